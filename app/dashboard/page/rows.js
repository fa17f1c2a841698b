// @ts-check
// The servers as data: what the columns of their table hold, how they are filtered,
// sorted, grouped, and kept in their places. Pure.

import { bytes, count, isNumber, percent, phrase, unknown } from './format.js';

const severity = { zombie: 0, starting: 1, live_no_project: 2, live_with_project: 3, live: 3, parked: 4 };

// columns in their order. value is what they sort by; unknown is null and comes
// last either way. Numbers begin with the largest.
export const columns = [
  { key: 'state', title: 'State', value: (one) => severity[one.state] ?? 5, text: (one) => one.words.state },
  { key: 'server', title: 'Server', value: (one) => (one.project_name || one.label).toLowerCase(), text: (one) => [one.label, one.words.apart].filter(Boolean).join(' · ') },
  { key: 'client', title: 'Client', value: (one) => one.words.client.toLowerCase() || null, text: (one) => one.words.client || unknown },
  { key: 'context', title: 'Context', value: (one) => one.context?.toLowerCase() || null, text: (one) => one.context || unknown },
  { key: 'memory', title: 'Memory', number: true, value: (one) => one.rss_bytes, text: (one) => bytes(one.rss_bytes) },
  { key: 'cpu', title: 'CPU', number: true, value: (one) => one.cpu_percent, text: (one) => percent(one.cpu_percent), hint: 'Of one core, the whole tree' },
  { key: 'idle', title: 'Idle', number: true, value: (one) => (idles(one) ? -Date.parse(one.idle_from) : one.busy ? -Infinity : null), text: null, hint: 'Since its last tool call, or since it started' },
  { key: 'next', title: 'What happens next', value: (one) => one.shutdown_at ?? null, text: null },
  { key: 'calls', title: 'Calls', number: true, value: (one) => one.tool_calls, text: (one) => count(one.tool_calls), hint: 'Successful tool calls, as the server counts them' },
  { key: 'version', title: 'Version', value: (one) => one.version, text: (one) => one.version || unknown },
  { key: 'port', title: 'Port', number: true, ascending: true, value: (one) => one.port, text: (one) => (one.port === null ? unknown : String(one.port)) },
];

// idles tells whether the time since the last call says something: one that needs
// attention is not asked.
export const idles = (one) => one.state !== 'zombie' && !one.busy && Boolean(one.idle_from);

const collator = new Intl.Collator('en', { numeric: true });

// sorted returns the instances in the order of a column, {key, descending}, or
// as they came when sort is null. Equal ones keep their order.
export function sorted(instances, sort) {
  const column = columns.find((one) => one.key === sort?.key);
  if (!column) return [...instances];
  const sign = sort.descending ? -1 : 1;
  return instances
    .map((one) => [column.value(one) ?? null, one])
    .sort(([a], [b]) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return sign * (isNumber(a) || a === -Infinity ? a - b : collator.compare(a, String(b)));
    })
    .map(([, one]) => one);
}

// turned is the sort after a press on a column: numbers begin with the largest,
// the third press goes back to the order of the list.
export function turned(sort, key) {
  const column = columns.find((one) => one.key === key);
  const first = Boolean(column?.number && !column.ascending);
  if (sort?.key !== key) return { key, descending: first };
  return sort.descending === first ? { key, descending: !first } : null;
}

// parts splits what was typed into a filter; all of them have to be found.
export const parts = (text) => fold(text).split(/\s+/).filter(Boolean);

// matches looks at what the columns show, the path, and how the id begins. What
// nobody can see would be found for no reason.
export function matches(instance, wanted) {
  if (wanted.length === 0) return true;
  const { words } = instance;
  const text = fold([instance.label, instance.project_root, words.client, instance.context, instance.version, instance.port, words.state, words.apart, ...words.why,
    words.next && phrase(words.next, Date.now())].filter((part) => part !== null && part !== undefined).join('\n'));
  return wanted.every((word) => text.includes(word) || fold(instance.id).startsWith(word));
}

const fold = (text) => String(text).normalize('NFKC').toLowerCase();

export const groupings = { none: 'Not grouped', client: 'By client', project: 'By project' };

// grouped puts instances together by client or project: [{name, list}], the name ''
// for those that are not grouped. Groups stand by name, those without a name last.
export function grouped(instances, by) {
  const keys = { client: (one) => one.words.client || 'No known client', project: (one) => one.project_name || 'No project' };
  if (!Object.hasOwn(keys, by)) return [{ name: '', list: instances }];
  const groups = new Map();
  for (const one of instances) {
    const name = keys[by](one);
    groups.set(name, [...groups.get(name) ?? [], one]);
  }
  const last = (name) => Number(name.startsWith('No '));
  return [...groups].map(([name, list]) => ({ name, list })).sort((a, b) => last(a.name) - last(b.name) || collator.compare(a.name, b.name));
}

// arrange puts the living in their order and each ended one after the neighbour
// it had. With hold the order of before stays, and what is new comes last.
export function arrange(before, living, ended, hold = false) {
  const place = new Map(before.map((id, i) => [id, i]));
  if (hold) {
    const present = new Set([...living, ...ended]);
    return [...before.filter((id) => present.has(id)), ...[...present].filter((id) => !place.has(id))];
  }
  const order = [...living];
  const lost = ended.filter((id) => !order.includes(id)).sort((a, b) => (place.get(a) ?? Infinity) - (place.get(b) ?? Infinity) || 0);
  for (const id of lost) {
    const neighbour = before.slice(0, place.get(id) ?? before.length).findLast((one) => order.includes(one));
    order.splice(place.has(id) ? order.indexOf(neighbour) + 1 : order.length, 0, id);
  }
  return order;
}

// neighbour is the id one step away, going around at the ends; current need
// not be in the list.
export function neighbour(order, current, step) {
  if (order.length === 0) return undefined;
  const i = order.indexOf(current);
  if (i < 0) return order[step > 0 ? 0 : order.length - 1];
  return order[(i + step + order.length) % order.length];
}

// range are the ids from one to another, both included, in either direction.
export function range(order, from, to) {
  const a = order.indexOf(from);
  const b = order.indexOf(to);
  if (a < 0 || b < 0) return b < 0 ? [] : [to];
  return order.slice(Math.min(a, b), Math.max(a, b) + 1);
}
