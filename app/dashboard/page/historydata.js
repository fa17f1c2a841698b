// @ts-check
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
