// How an entry in the settings of a client is drawn: its mark, 16 px, told apart
// by shape first, beside which words stand; and its command.

import { h, svg } from './dom.js';

const ring = { cx: 8, cy: 8, r: 5, fill: 'none', stroke: 'currentColor', 'stroke-width': 2 };
const line = { fill: 'none', stroke: 'currentColor', 'stroke-width': 1.8, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' };

const shapes = {
  shared: () => svg('circle', { cx: 8, cy: 8, r: 6, fill: 'currentColor' }),
  direct: () => svg('circle', ring),
  plain: () => svg('circle', { ...ring, r: 3.5, 'stroke-width': 1.6 }),
  other: () => svg('circle', { ...ring, 'stroke-dasharray': '3.2 2.04' }),
  alone: () => [svg('circle', ring), svg('circle', { cx: 8, cy: 8, r: 2, fill: 'currentColor' })],
  gone: () => [
    svg('path', { d: 'M8 1.2 15.4 14.4H.6Z', fill: 'currentColor', stroke: 'currentColor', 'stroke-linejoin': 'round' }),
    svg('path', { d: 'M8 5.6v4.2M8 11.4v1.8', class: 'mark-cut', 'stroke-width': 1.8 }),
  ],
  remote: () => svg('path', { ...line, d: 'M2.5 8h11M10 4.5 13.5 8 10 11.5' }),
  odd: () => svg('path', { ...line, d: 'M5.6 5.6A2.5 2.5 0 1 1 9.3 8C8.4 8.5 8 9 8 10M8 12.8v.1' }),
};

export function entryMark(kind) {
  return svg('svg', { class: `mark setup-mark-${kind}`, viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, shapes[kind]());
}

// commandLine shows a command, which is broken between words where it can be: a
// line that ends within --project reads as another option.
export function commandLine(text) {
  return h('code', { dir: 'ltr' }, text.split(' ').map((word, i) => [i > 0 && ' ', h('span', { class: 'setup-argument' }, word)]));
}
