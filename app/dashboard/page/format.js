// @ts-check
// Values in words. Pure: no clock, no page.

export const unknown = '–';

// bytes tells memory in MB, from 1 GB on in GB, both powers of ten.
export function bytes(n) {
  if (!isNumber(n)) return unknown;
  const mb = Math.round(n / 1e6);
  return mb < 1000 ? `${mb} MB` : `${(mb / 1000).toFixed(1)} GB`;
}

const units = ['kB', 'MB', 'GB', 'TB', 'PB'];

// size tells bytes of files in powers of ten, as the command line does.
export function size(n) {
  if (!isNumber(n) || n < 0) return unknown;
  let value = n;
  let unit = 'B';
  for (const next of units) {
    if (value < 999.5) break;
    value /= 1000;
    unit = next;
  }
  return value < 9.95 && unit !== 'B' ? `${value.toFixed(1)} ${unit}` : `${Math.round(value)} ${unit}`;
}

// percent is of one core; below ten it has a decimal.
export function percent(n) {
  if (!isNumber(n)) return unknown;
  return n < 9.95 ? `${n.toFixed(1)} %` : `${Math.round(n)} %`;
}

const grouping = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function count(n) {
  return isNumber(n) ? grouping.format(n) : unknown;
}

export function plural(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// duration tells seconds in one unit; below a minute in steps of ten seconds,
// because a number that changes every second draws the eye for nothing.
export function duration(seconds) {
  if (!isNumber(seconds)) return unknown;
  const s = Math.max(0, Math.floor(seconds));
  if (s < 10) return '< 10 s';
  if (s < 60) return `${Math.floor(s / 10) * 10} s`;
  if (s < 2 * 3600) return `${Math.floor(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

export function ago(date, now) {
  const when = moment(date);
  if (!when) return unknown;
  const seconds = (Number(moment(now)) - Number(when)) / 1000;
  return seconds < 10 ? 'just now' : `${duration(seconds)} ago`;
}

// until tells the time to a moment ahead, rounded up: who reads "in 4 min" has
// at least about that.
export function until(date, now) {
  const when = moment(date);
  if (!when) return unknown;
  const seconds = (Number(when) - Number(moment(now))) / 1000;
  if (seconds < 10) return 'any moment';
  if (seconds < 60) return 'in under 1 min';
  if (seconds < 2 * 3600) return `in ${Math.ceil(seconds / 60)} min`;
  return `in ${duration(seconds)}`;
}

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

export function absolute(date) {
  const when = moment(date);
  return when ? whole.format(when) : '';
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle: 'h23' });

// clockTime tells a moment the way people do: the time, and the day only when it
// is another one, and not the next that comes.
export function clockTime(when, now) {
  const date = moment(when);
  if (!date) return '';
  const today = /** @type {Date} */ (moment(now));
  const ahead = Number(date) - Number(today);
  return ahead > 0 && ahead < 86_400_000 || date.toDateString() === today.toDateString() ? clock.format(date) : absolute(date);
}

// moment reads a Date, a number of milliseconds or RFC 3339; else it is null.
export function moment(value) {
  if (value === null || value === undefined || value === '') return null;
  const date = value instanceof Date ? value : new Date(value);
  return Number.isNaN(date.getTime()) ? null : date;
}

// phrase draws what view.Phrase holds: its text goes on with the clock of at, or
// with how long ago since is.
export function phrase({ text, at, since, why }, now) {
  const words = at ? `${text} ${clockTime(at, now)}` : since ? `${text} ${duration((now - Number(moment(since))) / 1000)}` : text;
  return why ? `${words}: ${why}` : words;
}

// totals are the numbers that every view shows.
export function totals(instances) {
  const sum = { instances: instances.length, attention: 0, parked: 0, rss: 0, saved: 0, cpu: /** @type {number | null} */ (null), calls: /** @type {number | null} */ (null) };
  for (const one of instances) {
    if (one.state === 'zombie') sum.attention++;
    if (one.state === 'parked') sum.parked++;
    sum.rss += one.rss_bytes ?? 0;
    sum.saved += one.saved_bytes ?? 0;
    if (isNumber(one.cpu_percent)) sum.cpu = (sum.cpu ?? 0) + one.cpu_percent;
    if (isNumber(one.tool_calls)) sum.calls = (sum.calls ?? 0) + one.tool_calls;
  }
  return sum;
}

// head counts servers in one line: "5 servers, 1 needs attention, 1 parked, 640
// MB, sharing saves 324 MB".
export function head(instances) {
  if (instances.length === 0) return 'No servers yet';
  const sum = totals(instances);
  const words = [plural(sum.instances, 'server', 'servers')];
  if (sum.attention > 0) words.push(plural(sum.attention, 'needs attention', 'need attention'));
  if (sum.parked > 0) words.push(`${count(sum.parked)} parked`);
  if (sum.rss > 0) words.push(bytes(sum.rss));
  if (sum.saved > 0) words.push(`sharing saves ${bytes(sum.saved)}`);
  return words.join(', ');
}

// middle shortens a text in its middle, because names differ at their ends.
export function middle(text, most) {
  const all = [...new Intl.Segmenter().segment(text)].map((part) => part.segment);
  if (all.length <= most) return text;
  const room = Math.max(most - 1, 1);
  const left = Math.ceil(room / 2);
  return all.slice(0, left).join('').trimEnd() + '…' + all.slice(all.length - (room - left)).join('').trimStart();
}

// sentence begins a text as one, where it begins with a word, and ends it so.
export function sentence(text) {
  return ended((text ?? '').replace(/^\p{Ll}(?=\p{L}*(?:[ ,:]|$))/u, (letter) => letter.toLocaleUpperCase()));
}

// ended ends a text as a sentence.
export function ended(text) {
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`;
}

export function isNumber(n) {
  return typeof n === 'number' && Number.isFinite(n);
}
