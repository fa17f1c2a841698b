// The marks of states, 16 px, told apart by shape first. Words stand beside
// them, so they are hidden from screen readers.

import { svg } from './dom.js';

const stroke = { fill: 'none', stroke: 'currentColor', 'stroke-width': 2 };

const live = () => svg('circle', { cx: 8, cy: 8, r: 6, fill: 'currentColor' });

const shapes = {
  live_with_project: live,
  live,
  live_no_project: () => svg('circle', { cx: 8, cy: 8, r: 5, ...stroke, 'stroke-width': 2.5 }),
  zombie: () => [
    svg('path', { d: 'M8 1.2 15.4 14.4H.6Z', fill: 'currentColor', stroke: 'currentColor', 'stroke-linejoin': 'round' }),
    svg('path', { d: 'M8 5.6v4.2M8 11.4v1.8', class: 'mark-cut', 'stroke-width': 1.8 }),
  ],
  starting: () => svg('circle', { cx: 8, cy: 8, r: 5.2, ...stroke, 'stroke-dasharray': '3.4 2.05' }),
  parked: () => svg('path', { d: 'M13.6 10.4A6 6 0 1 1 7 2.2a5 5 0 0 0 6.6 8.2Z', fill: 'currentColor' }),
  ended: () => [svg('circle', { cx: 8, cy: 8, r: 5, ...stroke, 'stroke-width': 1.6 }), svg('path', { d: 'M2.4 13.6 13.6 2.4', ...stroke, 'stroke-width': 1.6 })],
};

function kindOf(state, ended) {
  if (ended) return 'ended';
  return Object.hasOwn(shapes, state) ? state : 'starting';
}

export function mark(state, { ended = false } = {}) {
  const kind = kindOf(state, ended);
  return svg('svg', { class: `mark mark-${kind}`, viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true', dataset: { mark: kind } }, shapes[kind]());
}

// setMark shows a mark in a node that holds nothing else, anew only when it
// differs.
export function setMark(holder, state, { ended = false } = {}) {
  if (holder.firstElementChild?.dataset.mark !== kindOf(state, ended)) holder.replaceChildren(mark(state, { ended }));
}
