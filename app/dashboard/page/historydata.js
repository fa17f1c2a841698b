// What the charts of History show, as data. Pure. Times are seconds since the
// epoch; a value holds until the next one; what is not known is null.

export const ranges = [
  ['30 min', 30 * 60],
  ['6 h', 6 * 3600],
  ['24 h', 24 * 3600],
];

export const kept = 24 * 3600; // seconds

const apart = 5; // seconds between two points of a page that is open for long

const columns = ['times', 'rss', 'cpu', 'calls'];

// Series holds the columns for all charts.
export class Series {
  times = [];
  rss = [];
  cpu = [];
  calls = [];

  // load takes the answer of the route history. What this page saw since then
  // is put after it.
  load(answer) {
    const own = this.#rows();
    Object.assign(this, { times: [], rss: [], cpu: [], calls: [] });
    const times = Array.isArray(answer?.times) ? answer.times : [];
    times.forEach((at, i) => this.#push(at, value(answer.rss_bytes, i), value(answer.cpu_percent, i), value(answer.tool_calls, i)));
    const last = this.times.at(-1) ?? -Infinity;
    for (const row of own) if (row[0] > last) this.#push(...row);
  }

  // observe takes an instance as a snapshot has it; it tells whether that says
  // something new.
  observe(instance, now) {
    const at = Math.floor(now);
    const row = [number(instance.rss_bytes), number(instance.cpu_percent), number(instance.tool_calls)];
    const i = this.times.length - 1;
    const same = i >= 0 && row[0] === this.rss[i] && row[1] === this.cpu[i] && row[2] === this.calls[i];
    if (same) return false;
    if (i >= 0 && at - this.times[i] < apart && i > 0 && this.times[i] - this.times[i - 1] < apart) this.#drop(i);
    this.#push(at, ...row);
    const old = this.times.findIndex((time) => time > at - kept);
    if (old > 1) for (const name of columns) this[name].splice(0, old - 1);
    return true;
  }

  // until is the columns with the newest values held until then.
  until(now) {
    const all = [this.times, this.rss, this.cpu, this.calls];
    const at = Math.floor(now);
    if (this.times.length === 0 || at <= this.times.at(-1)) return all;
    return [[...this.times, at], ...all.slice(1).map((column) => [...column, column.at(-1)])];
  }

  #push(at, rss, cpu, calls) {
    if (!Number.isFinite(at) || at <= (this.times.at(-1) ?? -Infinity)) return;
    this.times.push(at);
    this.rss.push(rss);
    this.cpu.push(cpu);
    this.calls.push(calls);
  }

  #drop(i) {
    for (const name of columns) this[name].splice(i, 1);
  }

  #rows() {
    return this.times.map((at, i) => [at, this.rss[i], this.cpu[i], this.calls[i]]);
  }
}

function value(column, i) {
  return Array.isArray(column) ? number(column[i]) : null;
}

function number(x) {
  return typeof x === 'number' && Number.isFinite(x) ? x : null;
}

// at is the index of the value that held at a time, -1 when that was before all.
export function at(times, time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// summary tells of a column, from a time on: the newest value, the highest with
// its time, and since when anything is known at all.
export function summary(times, column, from) {
  let now = null;
  let highest = null;
  let highestAt = null;
  let since = null;
  for (let i = 0; i < times.length; i++) {
    if (column[i] === null) continue;
    since ??= times[i];
    now = column[i];
    const held = i + 1 < times.length ? times[i + 1] : times[i];
    if (held >= from && (highest === null || column[i] >= highest)) {
      highest = column[i];
      highestAt = Math.max(times[i], from);
    }
  }
  return { now: column.at(-1) === null ? null : now, highest, highestAt, since };
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
