// uPlot is used as it comes, for the check of the page's types.

declare const uPlot: any;
export default uPlot;
