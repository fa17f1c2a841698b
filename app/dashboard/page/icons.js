// The drawings on buttons, 16 px, hidden from screen readers: the button has
// the words.

import { svg } from './dom.js';

const paths = {
  open: 'M6.5 3.5h-3v9h9v-3M9 3.5h3.5V7M12.5 3.5l-5 5',
  pin: 'M5.5 2.5h5M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  keep: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM8 5v3.2l2 1.3',
  stop: 'M4 4h8v8H4Z',
  kill: 'M9 1.8 3.5 9h4L7 14.2 12.5 7h-4Z',
  close: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3l3.2 3.2',
  down: 'M4.5 6.5 8 10l3.5-3.5',
  light: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1',
  dark: 'M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6Z',
  system: 'M2.5 3.5h11V11h-11ZM6 13.5h4M8 11v2.5',
  clients: 'M6 2v3.5M10 2v3.5M4 5.5h8V8a4 4 0 0 1-8 0ZM8 12v2.5',
  workspaces: 'M1.8 4.2h4.4l1.4 1.6h6.6v7.4H1.8ZM5.2 9.5h5.6',
  copy: 'M5.5 5.5h7v7h-7ZM10.5 3.5h-7v7',
  help: 'M5.8 6.1A2.2 2.2 0 1 1 9.2 8C8.4 8.5 8 8.9 8 9.8M8 12.2v.1',
};

const filled = ['stop'];

export function icon(name) {
  return svg('svg', { class: 'icon-drawing', viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' },
    svg('path', { d: paths[name], fill: filled.includes(name) ? 'currentColor' : 'none', stroke: 'currentColor', 'stroke-width': 1.4, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }));
}
