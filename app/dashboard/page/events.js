// @ts-check
// What happened to an instance, or to all of them, in the last day.

import { html, useState } from './preact.js';
import { count, moment } from './format.js';
import { get } from './http.js';
import { Unreadable, useQuery } from './query.js';
import { address } from './router.js';
import { gone, servers } from './store.js';
import { Mark, Time } from './ui.js';

const back = 24 * 3_600_000; // ms
const every = 15_000; // ms: a refused stop changes no snapshot
const overlap = 2_000; // ms asked for again, because events may be written a little later
const shownAtFirst = 200;

// key tells events apart. Two of one moment and kind are told apart by what
// they say.
const key = (event) => [event.at, event.kind, event.id, event.detail].join('\n');

// merge puts news, the answer to since, into what is held, newest last; what is
// older than from is dropped. Only known forms are taken.
export function merge(held, news, from) {
  const all = new Map(held.map((event) => [key(event), event]));
  for (const event of news) {
    if (typeof event?.at === 'string' && typeof event.words?.what === 'string' && !Number.isNaN(Date.parse(event.at))) all.set(key(event), event);
  }
  return [...all.values()].filter((event) => Date.parse(event.at) >= from).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

// withoutSteps leaves out the steps of orders whose end is told.
export function withoutSteps(events) {
  const told = new Map(events.filter((event) => event.order).map((event) => [`${event.id} ${event.order}`, event])); // the newest of each
  return events.filter((event) => !event.words.step && (!event.order || ['ended', 'force_killed'].includes(event.kind) || told.get(`${event.id} ${event.order}`) === event));
}

// days groups events by local day, newest first: [{day, events}], day is
// "2026-11-20".
export function days(events) {
  const groups = /** @type {{day: string, events: any[]}[]} */ ([]);
  for (const event of events.toReversed()) {
    const day = dayOf(new Date(event.at));
    if (groups.at(-1)?.day !== day) groups.push({ day, events: [] });
    groups.at(-1)?.events.push(event);
  }
  return groups;
}

export function dayOf(date) {
  const two = (n) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });

// nameOfDay names one; what is none is left as it is.
export function nameOfDay(day, now) {
  if (day === dayOf(now)) return 'Today';
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (day === dayOf(yesterday)) return 'Yesterday';
  const date = moment(`${day}T12:00:00`);
  return date ? dayName.format(date) : day;
}

// outline is what of the instances leads to events: when it differs, there may
// be new ones. It leaves out what changes all the time.
function outline() {
  const one = ({ id, state, cause, project_name, pinned, shutdown_at, kept_until }) => [id, state, cause, project_name, pinned, shutdown_at, kept_until].join(' ');
  return [...servers.value.map(one), ...gone.value.map(({ instance }) => `${instance.id} ended`)].join('\n');
}

async function ask(signal, before = []) {
  const newest = before.at(-1);
  const since = newest ? new Date(Date.parse(newest.at) - overlap).toISOString() : '24h';
  const answer = await get(`events?since=${encodeURIComponent(since)}`, { signal });
  if (!Array.isArray(answer?.events)) throw new Unreadable('lamplighter answered with something else than events');
  return merge(before, answer.events, Date.now() - back);
}

// EventList shows those of one instance, or of all.
export function EventList({ found = null }) {
  const { value, trouble } = useQuery('events', ask, { every, news: outline() });
  const [most, setMost] = useState(shownAtFirst);
  // An entry of the registry has no id of ours, only a pid, which may have been another's.
  const list = withoutSteps(value ?? []).filter((event) => !found || event.id === found.instance.id);
  const empty = value ? `Nothing has happened${found ? ' to this server' : ''} in the last 24 hours.` : trouble ? '' : 'Reading the events …';
  return html`<section class=${`events ${found ? '' : 'events-all'}`} aria-label="Events">
    ${found && html`<h2 class="unseen">Events</h2>`}
    ${trouble && html`<p class="trouble" role="status">The events cannot be read: ${trouble.text}</p>`}
    ${days(list.slice(-most)).map(({ day, events }) => html`<section class="events-day" key=${day}><h3>${nameOfDay(day, new Date())}</h3>
      <ol class="card rows">${events.map((event) => html`<${Event} key=${key(event)} event=${event} all=${!found} />`)}</ol></section>`)}
    ${list.length === 0 && empty && html`<p class="events-empty muted">${empty}</p>`}
    ${list.length > most && html`<button type="button" class="small" onClick=${() => setMost(most + shownAtFirst)}>Show earlier ones (${count(list.length - most)})</button>`}
  </section>`;
}

// Event names its server among those of all; none is what happened to the policies.
function Event({ event, all }) {
  const { words, label, pid, id } = event;
  const name = label || (pid ? `pid ${pid}` : '');
  return html`<li class=${`event ${words.look ? 'event-look' : ''}`}>
    <${Mark} kind=${words.mark || 'dot'} /><span class="event-time"><${Time} at=${event.at} /></span><span class="event-word">${words.what}</span>
    ${all && html`<span class="event-label cut" dir="auto" title=${label}>${name && html`<a href=${address(id || String(pid), 'events')}>${name}</a>`}</span>`}
    <span class="event-detail" dir="auto">${words.detail}</span></li>`;
}
