// One chart of History, drawn by uPlot. The values beside the title are those
// under the pointer, or the newest.

import { at, top } from './historydata.js';
import { h, setAttribute, setText } from './dom.js';

const height = 132; // px
const axisWidth = 68; // px, the same for all, so that the times are below each other

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const clockSeconds = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

export class Chart {
  #UPlot;
  #kind;
  #plot = null;
  #data = null; // what draw was given last
  #time = null; // of the pointer
  #value = h('span', { class: 'history-value' });
  #peak = h('span', { class: 'history-peak muted' });
  #swatch;
  #canvas = h('div', { class: 'history-canvas', tabindex: '0', role: 'img' });

  // kind has column, title, words, axisWords, least, step and rising; moved(time) is
  // told where the pointer is, null when it has left.
  constructor(UPlot, kind) {
    this.#UPlot = UPlot;
    this.#kind = kind;
    this.#swatch = h('span', { class: 'history-swatch', 'aria-hidden': 'true' });
    this.element = h('figure', { class: `history-chart history-${kind.column}` },
      h('figcaption', null, this.#swatch, h('h3', null, kind.title), this.#value, this.#peak), this.#canvas);
    this.#canvas.addEventListener('keydown', (event) => this.#key(event));
    this.#canvas.addEventListener('blur', () => kind.moved(null));
    new ResizeObserver(() => this.#resize()).observe(this.#canvas);
  }

  // draw shows values over times, from and to an end, all in seconds. peak are
  // the words about the highest.
  draw(data) {
    this.#data = data;
    const { times, values, now, highest, peak, label } = data;
    setText(this.#peak, peak);
    setAttribute(this.#canvas, 'aria-label', `${this.#kind.title} over the last ${label}: now ${this.#kind.words(now)}${this.#kind.rising ? '' : `, highest ${this.#kind.words(highest)}`}`);
    if (!this.#plot) this.#make();
    this.#plot?.setData([times, values], false);
    this.#scale();
    this.#tell();
  }

  // redraw takes the colours that the page has now.
  redraw() {
    this.#plot?.redraw(false, true);
  }

  #scale() {
    if (!this.#plot) return;
    const { from, end, highest } = this.#data;
    this.#plot.batch(() => {
      this.#plot.setScale('x', { min: from, max: end });
      this.#plot.setScale('y', { min: 0, max: top(highest, this.#kind.least) });
    });
  }

  #make() {
    const width = this.#canvas.clientWidth;
    if (width === 0) return; // not in the page yet; #resize will
    const { axisWords, step } = this.#kind;
    const colour = (part) => () => this.#colour(part);
    const font = `11px ${getComputedStyle(this.#canvas).fontFamily}`;
    const axis = { stroke: colour('text'), font, grid: { stroke: colour('grid'), width: 1 }, ticks: { show: false } };
    this.#plot = new this.#UPlot({
      width, height,
      legend: { show: false },
      padding: [8, 4, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { auto: false }, y: { auto: false } },
      axes: [
        { ...axis, size: 24, gap: 4, space: 70, values: (_, splits, __, ___, incr) => splits.map((time) => (incr < 60 ? clockSeconds : clock).format(time * 1000)) },
        { ...axis, size: axisWidth, gap: 8, space: 26, values: (_, splits) => splits.map(axisWords), incrs: increments(step) },
      ],
      series: [{}, {
        stroke: colour('line'), fill: colour('fill'), width: 1.5, spanGaps: false, points: { show: false },
        paths: this.#UPlot.paths.stepped({ align: 1 }),
      }],
      hooks: { setCursor: [(plot) => this.#kind.moved(plot.cursor.left < 0 ? null : plot.posToVal(plot.cursor.left, 'x'))] },
    }, null, this.#canvas);
    if (this.#data) {
      this.#plot.setData([this.#data.times, this.#data.values], false);
      this.#scale();
    }
  }

  #resize() {
    if (!this.#plot) {
      if (this.#data) this.#make();
      return;
    }
    const width = this.#canvas.clientWidth;
    if (width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height });
  }

  // #colour asks for a colour the way it is painted now: the swatch has them
  // all, from the style sheet.
  #colour(part) {
    const style = getComputedStyle(this.#swatch);
    return { line: style.backgroundColor, fill: style.borderTopColor, grid: style.borderLeftColor, text: style.color }[part];
  }

  // point puts the line of the pointer at a time; null takes it away.
  point(time) {
    this.#time = time;
    this.#tell();
  }

  // #tell writes the value under the pointer, or the newest, and draws the line.
  #tell() {
    if (!this.#data) return;
    const { times, values, from, end, now } = this.#data;
    const time = this.#time;
    setText(this.#value, this.#kind.words(time === null ? now : values[at(times, Math.min(time, end))] ?? null));
    const inside = time !== null && time >= from && time <= end;
    this.#plot?.setCursor({ left: inside ? this.#plot.valToPos(time, 'x') : -10, top: inside ? 1 : -10 }, false);
  }

  // #key moves the line by the keyboard, over all charts.
  #key(event) {
    if (!this.#data) return;
    const { from, end } = this.#data;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const ends = { Home: from, End: end, Escape: null };
    if (!by && !(event.key in ends)) return;
    event.preventDefault();
    this.#kind.moved(by ? Math.min(Math.max((this.#time ?? end) + (by * (end - from)) / 60, from), end) : ends[event.key]);
  }
}

// increments are the steps of a scale: round ones, whole ones.
function increments(least) {
  const list = [];
  for (let power = least; power < least * 1e9; power *= 10) list.push(power, 2 * power, 2.5 * power, 5 * power);
  return list.filter((n) => n % least === 0);
}
