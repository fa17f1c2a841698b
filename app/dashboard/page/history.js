// Memory, CPU and calls of an instance over time.

import { Chart } from './historychart.js';
import { Series, begin, ranges, summary } from './historydata.js';
import { absolute, bytes, count, percent, unknown } from './format.js';
import { h, replace, setAttribute, setText } from './dom.js';
import { instance } from './http.js';

const name = 'lamplighter-history'; // of the range that is kept
const tick = 10_000; // ms; the newest values hold until now

// A chart's column in the Series, its name, how its values read, beside its
// axis too, the least that its scale reaches, and the smallest step of it. What
// only rises is highest now, so that is not told.
const kinds = [
  { column: 'rss', title: 'Memory', words: bytes, axisWords: bytes, least: 50e6, step: 1e6 },
  { column: 'cpu', title: 'CPU', words: percent, axisWords: (n) => `${n} %`, least: 10, step: 1 },
  { column: 'calls', title: 'Calls', words: count, axisWords: count, least: 10, step: 1, rising: true },
];

export function historyView() {
  return new HistoryView();
}

class HistoryView {
  #found = null;
  #series = new Series();
  #range = keptRange();
  #request = null;
  #timer = 0;
  #charts = null;
  #trouble = h('p', { class: 'history-trouble', role: 'status', hidden: true });
  #empty = h('p', { class: 'history-empty muted' });
  #ranges = h('div', { class: 'history-ranges', role: 'group', 'aria-label': 'Range' }, ranges.map(([label, seconds]) =>
    h('button', { type: 'button', class: 'small', dataset: { seconds }, onclick: () => this.#setRange(seconds) }, label)));
  #moment = h('p', { class: 'history-moment muted' });
  #boxes = h('div', { class: 'history-charts', hidden: true });
  #since = h('p', { class: 'history-since muted' });
  #summary = h('tbody');
  // The charts say the same; a table can be read without seeing them.
  #table = h('table', { class: 'unseen' },
    h('caption', null, 'Summary'),
    h('thead', null, h('tr', null, ['Figure', 'Now', 'Highest', 'At'].map((word) => h('th', { scope: 'col' }, word)))),
    this.#summary);

  element = h('section', { class: 'history', 'aria-label': 'History' },
    h('h2', { class: 'unseen' }, 'History'),
    h('div', { class: 'history-bar' }, this.#ranges, this.#moment, this.#since),
    this.#trouble, this.#empty, this.#boxes, this.#table);

  #visibility = () => (document.hidden ? this.#rest() : this.#begin());
  #redraw = () => this.#charts?.forEach((chart) => chart.redraw());

  show(found) {
    if (this.#found?.instance.id !== found.instance.id) this.#series = new Series();
    this.#found = found;
    document.addEventListener('visibilitychange', this.#visibility);
    addEventListener('themechange', this.#redraw);
    darkness.addEventListener('change', this.#redraw);
    this.#showRange();
    this.#begin();
  }

  update(found) {
    if (this.#found?.instance.id !== found.instance.id) {
      this.hide();
      this.show(found);
      return;
    }
    const again = this.#found.paused && !found.paused;
    this.#found = found;
    if (again) this.#begin();
    if (found.ended_at === null && this.#series.observe(found.instance, Date.now() / 1000)) this.#draw();
  }

  hide() {
    document.removeEventListener('visibilitychange', this.#visibility);
    removeEventListener('themechange', this.#redraw);
    darkness.removeEventListener('change', this.#redraw);
    this.#rest();
  }

  #rest() {
    clearInterval(this.#timer);
    this.#request?.abort();
  }

  async #begin() {
    this.#rest();
    this.#timer = setInterval(() => this.#draw(), tick);
    const { id } = this.#found.instance;
    const request = (this.#request = new AbortController());
    try {
      const [answer] = await Promise.all([instance(id).get('history', { signal: request.signal }), this.#makeCharts()]);
      if (request.signal.aborted) return;
      this.#series.load(answer);
      if (this.#found.ended_at === null) this.#series.observe(this.#found.instance, Date.now() / 1000);
      this.#trouble.hidden = true;
    } catch (error) {
      if (request.signal.aborted) return;
      // Of one that ended long ago, what this page has seen is all there is.
      this.#trouble.hidden = error.status === 404 && this.#found.ended_at !== null && this.#series.times.length > 0;
      setText(this.#trouble, `The history cannot be read: ${error.message}`);
    }
    this.#draw();
  }

  // #makeCharts loads uPlot, once somebody wants to see a chart.
  async #makeCharts() {
    if (this.#charts) return;
    const { default: UPlot } = await import('./uPlot.esm.js');
    if (this.#charts) return;
    this.#charts = kinds.map((kind) => new Chart(UPlot, { ...kind, moved: (time) => this.#point(time) }));
    replace(this.#boxes, this.#charts.map((chart) => chart.element));
  }

  #setRange(seconds) {
    this.#range = seconds;
    try {
      localStorage.setItem(name, String(seconds));
    } catch {
      // Without storage it lasts as long as the page.
    }
    this.#showRange();
    this.#draw();
  }

  #showRange() {
    for (const button of this.#ranges.children) setAttribute(button, 'aria-pressed', String(Number(button.dataset.seconds) === this.#range));
  }

  #draw() {
    const end = this.#found.ended_at === null ? Date.now() / 1000 : new Date(this.#found.ended_at) / 1000;
    const [times, ...columns] = this.#series.until(end);
    const any = times.length > 1 && columns.some((column) => column.some((value) => value !== null));
    this.#empty.hidden = any || !this.#trouble.hidden;
    setText(this.#empty, this.#request?.signal.aborted ? '' : 'History begins when lamplighter first saw it. It is kept in memory for a day, while lamplighter runs.');
    this.#boxes.hidden = this.#table.hidden = this.#since.hidden = !any || !this.#charts;
    if (!any || !this.#charts) return;
    const from = begin(times[0], end, this.#range);
    const label = ranges.find(([, seconds]) => seconds === this.#range)[0];
    const rows = kinds.map((kind, i) => ({ ...kind, known: columns[i].some((value) => value !== null), ...summary(times, columns[i], from) }));
    rows.forEach((row, i) => { this.#charts[i].element.hidden = !row.known; });
    rows.forEach((row, i) => row.known && this.#charts[i].draw({ times, values: columns[i], from, end, label, now: row.now, highest: row.highest, peak: peak(row, end) }));
    this.#summarise(rows, times[0], end);
  }

  #summarise(rows, since, end) {
    const { ended_at: ended } = this.#found;
    setText(this.#since, ended ? `Known until ${absolute(end * 1000)}, when it ended` : `Known since ${absolute(since * 1000)}`);
    replace(this.#summary, rows.filter((row) => row.known).map(({ title, words, rising, now, highest, highestAt }) => h('tr', null,
      h('th', { scope: 'row' }, title),
      [words(now), rising ? unknown : words(highest), rising || highestAt === null ? unknown : absolute(highestAt * 1000)].map((text) => h('td', null, text)))));
  }

  // #point puts the pointer's line into all charts, and says of when it is.
  #point(time) {
    for (const chart of this.#charts) chart.point(time);
    setText(this.#moment, time === null ? '' : `At ${absolute(time * 1000)}`);
  }
}

const darkness = matchMedia('(prefers-color-scheme: dark)');

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const clockAndDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

// peak tells of the highest value, where it is not the newest.
function peak({ words, rising, now, highest, highestAt }, end) {
  return rising || highest === null || words(highest) === words(now) ? '' : `highest ${words(highest)} at ${moment(highestAt, end)}`;
}

// moment is short: with the day only where it is another than that of the end.
function moment(seconds, end) {
  const [date, last] = [new Date(seconds * 1000), new Date(end * 1000)];
  return (date.toDateString() === last.toDateString() ? clock : clockAndDay).format(date);
}

function keptRange() {
  let seconds = 0;
  try {
    seconds = Number(localStorage.getItem(name));
  } catch {
    // The default will do.
  }
  return ranges.some(([, one]) => one === seconds) ? seconds : ranges[0][1];
}
