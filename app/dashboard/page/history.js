// @ts-check
// Memory, CPU and calls over time, drawn by uPlot. The value beside a title is the
// one under the pointer, or the newest.

import { html, signal, useEffect, useLayoutEffect, useRef } from './preact.js';
import { absolute, bytes, count, percent } from './format.js';
import { get, instance as requests } from './http.js';
import { useQuery } from './query.js';
import { Fold, isOpen, now as clockNow, stored, useNear } from './ui.js';

// What the charts of History show, as data. Pure. Times are seconds since the
// epoch; a value holds until the next one; what is not known is null.

export const ranges = [['30 min', 30 * 60], ['6 h', 6 * 3600], ['24 h', 24 * 3600]];

// columnsOf reads the answer of a route history, with the newest values held until
// then; a column that is missing is all null.
export function columnsOf(answer, until) {
  const times = (Array.isArray(answer?.times) ? answer.times : []).filter(Number.isFinite);
  const column = (values) => times.map((_, i) => (Number.isFinite(values?.[i]) ? values[i] : null));
  const all = { times, rss: column(answer?.rss_bytes), cpu: column(answer?.cpu_percent), calls: column(answer?.tool_calls) };
  const end = Math.floor(until);
  if (times.length > 0 && end > times.at(-1)) {
    times.push(end);
    for (const values of [all.rss, all.cpu, all.calls]) values.push(values.at(-1));
  }
  return all;
}

// at is the index of the value that held at a time, -1 when that was before all.
export const at = (times, time) => times.findLastIndex((one) => one <= time);

// summary tells of a column, from a time on: the newest value, and the highest with
// its time.
export function summary(times, column, from) {
  let highest = null;
  let highestAt = null;
  for (let i = 0; i < times.length; i++) {
    const held = times[i + 1] ?? times[i];
    if (column[i] === null || held < from || (highest !== null && column[i] < highest)) continue;
    highest = column[i];
    highestAt = Math.max(times[i], from);
  }
  return { now: column.at(-1) ?? null, highest, highestAt };
}

// begin is where the charts begin: a range before the end, but not long before
// anything was known.
export function begin(since, end, range) {
  const least = 5 * 60; // seconds
  return end - Math.min(range, Math.max(end - since, least));
}

// top is the end of a scale that begins at 0: a round number above the highest,
// so that the curve does not touch the frame and the scale does not jump.
export function top(highest, least) {
  const wanted = Math.max((highest ?? 0) * 1.08, least);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((n) => n * power).find((n) => n >= wanted - 1e-9);
}

// increments are the steps of a scale: round ones, whole ones.
export function increments(least) {
  const list = [];
  for (let power = least; power < least * 1e9; power *= 10) list.push(power, 2 * power, 2.5 * power, 5 * power);
  return list.filter((n) => n % least === 0);
}

const every = 10_000; // ms
const height = 132; // px
const axisWidth = 68; // px, the same for all, so that the times are below each other

// A chart's column, its title, how its values read, beside its axis too, the least
// that its scale reaches, and the smallest step of it. What only rises is highest
// now, so that is not told.
const kinds = [
  { column: 'rss', title: 'Memory', words: bytes, axisWords: bytes, least: 50e6, step: 1e6 },
  { column: 'cpu', title: 'CPU', words: percent, axisWords: (n) => `${n} %`, least: 10, step: 1 },
  { column: 'calls', title: 'Calls', words: count, axisWords: count, least: 10, step: 1, rising: true },
];

const range = stored('lamplighter-history', ranges[0][1], (seconds) => (ranges.some(([, one]) => one === seconds) ? seconds : null));
const pointer = signal(/** @type {number | null} */ (null)); // the time under it, in all charts
const colours = signal(0); // changes when they do
if (globalThis.document) {
  const changed = () => { colours.value++; };
  addEventListener('themechange', changed);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
}

// uPlot is loaded once a chart is seen.
const plotter = signal(/** @type {any} */ (null));
const loadPlotter = async () => { plotter.value ??= (await import('./uPlot.esm.js')).default; };

export function History({ found }) {
  const { id } = found.instance;
  const { value, trouble } = useQuery(`history ${id} ${found.ended}`, (abort) => requests(id).get('history', { signal: abort }), { every: found.ended ? Infinity : every });
  const end = found.ended ? Number(new Date(found.ended_at)) / 1000 : clockNow.value / 1000;
  return html`<section class="history" aria-label="History"><h2 class="unseen">History</h2>
    ${trouble && !value && html`<p class="trouble" role="status">The history cannot be read: ${trouble.text}</p>`}
    <${Charts} answer=${value} end=${end} kinds=${kinds} empty=${'History begins when lamplighter first saw it. It is kept in memory for a day, while lamplighter runs.'} /></section>`;
}

// MemoryOfAll is one chart of all servers together.
export function MemoryOfAll() {
  const { value } = useQuery('history of all', (abort) => get('history', { signal: abort }), { every, on: isOpen('memory-of-all') });
  return html`<${Fold} title="Memory of all servers" name="memory-of-all"><${Charts} answer=${value} end=${clockNow.value / 1000} kinds=${kinds.slice(0, 1)} empty="Nothing is known yet." /><//>`;
}

function Charts({ answer, end, kinds: wanted, empty }) {
  const box = useRef(null);
  const near = useNear(box);
  useEffect(() => { if (near) loadPlotter(); }, [near]);
  const all = columnsOf(answer, end);
  const known = wanted.filter(({ column }) => all[column].some((value) => value !== null));
  if (known.length === 0 || all.times.length < 2) return html`<div ref=${box} class="history-charts"><p class="history-empty muted">${answer ? empty : 'Reading the history …'}</p></div>`;
  const from = begin(all.times[0], end, range.value);
  const rows = known.map((kind) => ({ kind, values: all[kind.column], ...summary(all.times, all[kind.column], from) }));
  return html`<div ref=${box} class="history-charts"><div class="history-bar">
      <div class="line" role="group" aria-label="Range">${ranges.map(([label, seconds]) => html`<button type="button" class="small" aria-pressed=${String(seconds === range.value)} onClick=${() => { range.value = seconds; }}>${label}</button>`)}</div>
      <p class="muted">${pointer.value !== null && `At ${absolute(pointer.value * 1000)}`}</p>
      <p class="history-since muted">Known since ${absolute(all.times[0] * 1000)}</p></div>
    ${rows.map((row) => html`<${Chart} key=${row.kind.column} ...${row} times=${all.times} from=${from} end=${end} />`)}</div>`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const clockSeconds = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const clockAndDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

function Chart({ kind, times, values, from, end, now, highest, highestAt }) {
  const canvas = useRef(/** @type {HTMLElement | null} */ (null));
  const swatch = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {any} */ (null));
  const UPlot = plotter.value;

  useLayoutEffect(() => {
    if (!UPlot || !canvas.current) return undefined;
    const box = canvas.current;
    const make = () => {
      const width = box.clientWidth;
      if (width === 0) return;
      if (plot.current) plot.current.setSize({ width, height });
      else plot.current = new UPlot(options(UPlot, kind, width, box, /** @type {HTMLElement} */ (swatch.current)), null, box);
    };
    make();
    const observer = new ResizeObserver(make);
    observer.observe(box);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [UPlot]);
  useLayoutEffect(() => {
    plot.current?.batch(() => {
      plot.current.setData([times, values], false);
      plot.current.setScale('x', { min: from, max: end });
      plot.current.setScale('y', { min: 0, max: top(highest, kind.least) });
    });
  });
  useEffect(() => { plot.current?.redraw(false, true); }, [colours.value]);
  useEffect(() => {
    const time = pointer.value;
    const inside = time !== null && time >= from && time <= end;
    plot.current?.setCursor({ left: inside ? plot.current.valToPos(time, 'x') : -10, top: inside ? 1 : -10 }, false);
  });

  // The keyboard moves the line over all charts.
  const pressed = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const ends = { Home: from, End: end, Escape: null };
    if (!by && !(event.key in ends)) return;
    event.preventDefault();
    pointer.value = by ? Math.min(Math.max((pointer.value ?? end) + (by * (end - from)) / 60, from), end) : ends[event.key];
  };
  const time = pointer.value;
  const day = highestAt !== null && new Date(highestAt * 1000).toDateString() === new Date(end * 1000).toDateString() ? clock : clockAndDay;
  const peak = kind.rising || highest === null || kind.words(highest) === kind.words(now) ? '' : `highest ${kind.words(highest)} at ${day.format(highestAt * 1000)}`;
  const about = `${kind.title} over the last ${ranges.find(([, seconds]) => seconds === range.value)?.[0]}: now ${kind.words(now)}${kind.rising ? '' : `, highest ${kind.words(highest)}`}`;
  return html`<figure class=${`card history-chart history-${kind.column}`}>
    <figcaption><span ref=${swatch} class="history-swatch" aria-hidden="true"></span><h3>${kind.title}</h3>
      <span class="history-value">${kind.words(time === null ? now : values[at(times, Math.min(time, end))] ?? null)}</span><span class="history-peak muted">${peak}</span></figcaption>
    <div ref=${canvas} class="history-canvas" tabindex="0" role="img" aria-label=${about} onKeyDown=${pressed} onBlur=${() => { pointer.value = null; }}></div></figure>`;
}

// options are those of uPlot. A colour is asked for the way it is painted now: the
// swatch has them all, from the style sheet.
function options(UPlot, { axisWords, step }, width, box, swatch) {
  const colour = (property) => () => getComputedStyle(swatch)[property];
  const axis = { stroke: colour('color'), font: `11px ${getComputedStyle(box).fontFamily}`, grid: { stroke: colour('borderLeftColor'), width: 1 }, ticks: { show: false } };
  return {
    width, height, legend: { show: false }, padding: [8, 28, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { auto: false }, y: { auto: false } },
    axes: [
      { ...axis, size: 24, gap: 4, space: 70, values: (_, splits, __, ___, incr) => splits.map((time) => (incr < 60 ? clockSeconds : clock).format(time * 1000)) },
      { ...axis, size: axisWidth, gap: 8, space: 26, values: (_, splits) => splits.map(axisWords), incrs: increments(step) },
    ],
    series: [{}, { stroke: colour('backgroundColor'), fill: colour('borderTopColor'), width: 1.5, spanGaps: false, points: { show: false }, paths: UPlot.paths.stepped({ align: 1 }) }],
    hooks: { setCursor: [(plot) => { pointer.value = plot.cursor.left < 0 ? null : plot.posToVal(plot.cursor.left, 'x'); }] },
  };
}
