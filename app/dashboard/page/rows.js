// The overview as data: what its columns hold, how it is filtered and sorted.
// Pure.

import { clientBrief, clientWords } from './client.js';
import { bytes, count, percent, state, unknown } from './format.js';
import { next } from './next.js';
import { isShared } from './sharing.js';

const severity = { zombie: 0, starting: 1, live_no_project: 2, live_with_project: 3, live: 3, parked: 4 };

// columns in their order. value is what they sort by; unknown is null and comes
// last either way. Numbers begin with the largest. whole is what text is short for.
export const columns = [
  { key: 'state', title: 'State', value: (one) => severity[one.state] ?? 5, text: state },
  { key: 'server', title: 'Server', value: (one) => nameOf(one).toLowerCase(), text: (one) => one.label },
  { key: 'client', title: 'Client', value: (one) => (isShared(one) ? clientBrief(one) : one.client?.name ?? '').toLowerCase() || null, text: (one) => clientBrief(one) || unknown, whole: clientWords },
  { key: 'context', title: 'Context', value: (one) => one.context?.toLowerCase() || null, text: (one) => one.context || unknown },
  { key: 'memory', title: 'Memory', number: true, value: (one) => one.rss_bytes, text: (one) => bytes(one.rss_bytes) },
  { key: 'cpu', title: 'CPU', number: true, value: (one) => one.cpu_percent, text: (one) => percent(one.cpu_percent), hint: 'Of one core, the whole tree' },
  { key: 'idle', title: 'Idle', number: true, value: idleSeconds, text: null, hint: 'Since its last tool call' },
  { key: 'next', title: 'What happens next', value: (one) => one.shutdown_at ?? null, text: null },
  { key: 'calls', title: 'Calls', number: true, value: (one) => one.tool_calls, text: (one) => count(one.tool_calls), hint: 'Successful tool calls, as the server counts them' },
  { key: 'version', title: 'Version', value: (one) => one.version, text: (one) => one.version || unknown },
  { key: 'port', title: 'Port', number: true, ascending: true, value: (one) => one.port, text: (one) => (one.port === null ? unknown : String(one.port)) },
];

function nameOf(instance) {
  return instance.project_name || instance.label;
}

// idleSeconds is null where the last call says nothing: one that needs
// attention is not asked.
export function idleSeconds(instance) {
  if (instance.state === 'zombie') return null;
  return instance.busy ? 0 : instance.idle_seconds;
}

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
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (typeof a === 'string' ? collator.compare(a, String(b)) : a - b);
    })
    .map(([, one]) => one);
}

// turned is the sort after a press on a column: numbers begin with the largest,
// the third press goes back to the order of the list.
export function turned(sort, key) {
  const column = columns.find((one) => one.key === key);
  const first = Boolean(column.number && !column.ascending);
  if (sort?.key !== key) return { key, descending: first };
  return sort.descending === first ? { key, descending: !first } : null;
}

// words splits what was typed into a filter; all of them have to be found.
export function words(text) {
  return fold(text).split(/\s+/).filter(Boolean);
}

// matches looks at what the columns show, the path, and how the id begins. What
// nobody can see would be found for no reason.
export function matches(instance, wanted) {
  if (wanted.length === 0) return true;
  const ahead = next(instance);
  const text = fold([
    instance.label, instance.project_root, clientWords(instance), instance.context, instance.version, instance.port, state(instance),
    ahead.text, ahead.because, instance.alone_because, instance.pinned ? 'pinned' : '',
  ].filter((part) => part !== null && part !== undefined).join('\n'));
  const id = fold(instance.id);
  return wanted.every((word) => text.includes(word) || id.startsWith(word));
}

function fold(text) {
  return String(text).normalize('NFKC').toLowerCase();
}
