// The lifecycle log for people: words, order, days. Pure.

// Words of the kinds whose name is not its own words, as monitor/event.go has
// them.
export const kindWords = {
  project_activated: 'project activated',
  zombie_detected: 'needs attention',
  heartbeat_restored: 'heartbeat restored',
  stop_ordered: 'stop ordered',
  stop_refused: 'not ended',
  asked: 'asked to end',
  force_killed: 'force-killed',
  stop_failed: 'stop failed',
  shutdown_planned: 'will shut down',
  plan_dropped: 'goes on',
  policy_refused: 'left alone',
};

export function words(kind) {
  return Object.hasOwn(kindWords, kind) ? kindWords[kind] : String(kind).replaceAll('_', ' ');
}

// detail is what else an event says. Nobody saw a server begin that was found,
// so who started it is no part of what happened.
export function detail(event) {
  return event.kind === 'found' && event.detail?.startsWith('by ') ? `started ${event.detail}` : event.detail;
}

// The mark of a kind: that of the state it leads to, or a small one of its own.
const marks = {
  started: 'starting',
  project_activated: 'live_with_project',
  heartbeat_restored: 'live_with_project',
  zombie_detected: 'zombie',
  stop_failed: 'zombie',
  stopped: 'ended',
  ended: 'ended',
  force_killed: 'ended',
  forgotten: 'ended',
  pruned: 'ended',
  parked: 'parked',
  woken: 'starting',
};

export function markOf(kind) {
  return Object.hasOwn(marks, kind) ? marks[kind] : 'dot';
}

// grave tells whether somebody should look.
export function grave(kind) {
  return ['zombie_detected', 'stop_failed', 'stop_refused', 'force_killed'].includes(kind);
}

// key tells events apart. Two of one moment and kind are told apart by what
// they say.
export function key(event) {
  return [event.at, event.kind, event.id, event.detail].join('\n');
}

// merge puts news, the answer to since, into what is held, newest last; what is
// older than from is dropped. Only known forms are taken.
export function merge(held, news, from) {
  const all = new Map(held.map((event) => [key(event), event]));
  for (const event of news) {
    if (typeof event?.at !== 'string' || typeof event.kind !== 'string' || Number.isNaN(Date.parse(event.at))) continue;
    all.set(key(event), event);
  }
  const list = [...all.values()].filter((event) => Date.parse(event.at) >= from);
  return list.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

// about tells whether an event is about an instance. An entry of the registry
// has no id of ours, only a pid, which may have been another's: it is left out.
export function about(event, id) {
  return event.id === id;
}

// days groups events by local day, newest first: [{day, events}], day is
// "2026-11-20".
export function days(events) {
  const groups = [];
  for (const event of events.toReversed()) {
    const day = dayOf(new Date(event.at));
    if (groups.at(-1)?.day !== day) groups.push({ day, events: [] });
    groups.at(-1).events.push(event);
  }
  return groups;
}

export function dayOf(date) {
  const two = (n) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });

export function nameOfDay(day, now) {
  if (day === dayOf(now)) return 'Today';
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (day === dayOf(yesterday)) return 'Yesterday';
  return dayName.format(new Date(`${day}T12:00:00`));
}

// outline is what of the instances leads to events: when it differs, there may
// be new ones. It leaves out what changes all the time.
export function outline(instances, ended) {
  const one = (instance) => [instance.id, instance.state, instance.cause, instance.project_name, instance.pinned, instance.shutdown_at, instance.kept_until].join(' ');
  return [...instances.map(one), ...ended.map((gone) => `${gone.instance.id} ended`)].join('\n');
}
