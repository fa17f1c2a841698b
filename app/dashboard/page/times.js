// Times that follow the clock, all by one ticker that rests while the page is
// hidden. The absolute time is in the title.

import { absolute, ago, duration, moment, unknown, until } from './format.js';
import { h, setAttribute, setText } from './dom.js';

const every = 5_000; // ms; what is shown has steps of ten seconds and more

// time makes a <time>. suffix 'ago' (the default) tells "2 min ago", '' only
// "2 min"; a moment ahead reads "in 4 min", and with 'ahead' one that has come
// "any moment". Nothing known is a dash.
export function time(when, { suffix = 'ago' } = {}) {
  const node = h('time', { class: 'time', dataset: { suffix } });
  setTime(node, when);
  return node;
}

// setTime changes the moment that a node of time shows.
export function setTime(node, when) {
  const date = moment(when);
  setAttribute(node, 'datetime', date ? date.toISOString() : null);
  setAttribute(node, 'title', date ? absolute(date) : null);
  tell(node, Date.now());
  wake();
}

function tell(node, now) {
  const date = moment(node.getAttribute('datetime'));
  setText(node, date ? words(date, now, node.dataset.suffix) : unknown);
}

// words is what a moment reads as.
export function words(date, now, suffix) {
  if (date > now || suffix === 'ahead') return until(date, now);
  return suffix === 'ago' ? ago(date, now) : duration((now - date) / 1000);
}

let ticker = 0;

function tick() {
  const now = Date.now();
  for (const node of document.querySelectorAll('time.time[datetime]')) tell(node, now);
}

function wake() {
  if (ticker || document.hidden) return;
  ticker = setInterval(tick, every);
}

if (globalThis.document) {
  document.addEventListener('visibilitychange', () => {
    clearInterval(ticker);
    ticker = 0;
    if (document.hidden) return;
    tick();
    wake();
  });
}
