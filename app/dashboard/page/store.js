// @ts-check
// What the page knows. The stream writes it, everything else reads it.

import { batch, computed, signal } from './preact.js';

export const loaded = signal(false); // there was a snapshot at all
export const connected = signal(false); // what is shown is of now
export const trouble = signal(''); // the sentence to show while not connected
export const snapshotAt = signal(/** @type {Date | null} */ (null));
export const every = signal(0); // seconds between two looks, 0 when all is told at once
export const servers = signal(/** @type {any[]} */ ([])); // of the newest snapshot; one that has not changed is the same object
export const repeated = signal(/** @type {any[]} */ ([])); // {words, ids, keep} of servers that one client has started several times
export const givenUp = signal(/** @type {any} */ (null)); // {words, ids} of servers that are in no list; null for none
export const children = signal(/** @type {any[]} */ ([])); // {client, list, words, names} of what is only on the pipes of clients
export const gone = signal(/** @type {any[]} */ ([])); // {instance, ended_at, why} of the last minutes
export const status = signal(/** @type {any} */ (null));
export const pending = signal(new Map()); // words for what this page has ordered and not heard the end of, by id

const keepTime = 10 * 60_000; // ms that an ended one stays readable
const bridgeTime = 3_000; // ms until lamplighter must have said that it ended
const mostAwake = 100; // parked ones that are found by the id that they had
const missed = 'it was no longer there when lamplighter answered again';

let unlisted = /** @type {any[]} */ ([]); // what is given up
let left = new Map(); // id → {instance, ended_at, why, sure}
let reconnected = false;
const dismissed = new Set();
const texts = new WeakMap(); // what each instance was, to tell whether it is another
const awake = new Map(); // id that a parked one had → id that it has now, the newest last

// merge returns the map of id → {instance, ended_at, why, sure} after news. ended is
// lamplighter's list, null when the news is a snapshot. An entry that is not sure
// is the page's own guess, which bridges the moment before lamplighter tells.
export function merge(before, { was, instances, ended, now, reconnected: again }) {
  const after = new Map(before);
  const living = new Set(instances.map((one) => one.id));
  for (const instance of ended === null ? was : []) {
    // A parked one leaves the list when it wakes, under another id.
    if (living.has(instance.id) || after.has(instance.id) || instance.state === 'parked') continue;
    after.set(instance.id, { instance, ended_at: now.toISOString(), why: again ? missed : '', sure: again });
  }
  for (const one of ended ?? []) {
    if (one?.instance?.id) after.set(one.instance.id, { instance: one.instance, ended_at: one.ended_at, why: one.why ?? '', sure: true });
  }
  for (const id of living) after.delete(id);
  return after;
}

// sweep leaves out what has been gone for long enough, or was never confirmed.
function sweep(all, now) {
  return new Map([...all].filter(([, one]) => now - Number(new Date(one.ended_at)) < (one.sure ? keepTime : bridgeTime)));
}

// woke finds what a parked instance runs as, after it has gone from the list: a
// shared one that is new for the same project and has a client of it.
export function woke(parked, before, instances) {
  const known = new Set(before.map((one) => one.id));
  const clients = new Set((parked.clients ?? []).map((one) => one.pid));
  return instances.find((one) => !known.has(one.id) && isShared(one) && one.project_root === parked.project_root && one.kind === parked.kind
    && (one.clients ?? []).some(({ pid }) => clients.has(pid))) ?? null;
}

// isShared tells whether its clients have it through lamplighter and may be several.
function isShared(instance) {
  return instance.shared_by !== null && instance.shared_by !== undefined;
}

// takeSnapshot takes the body of an event of the stream, or of an answer where
// there are only looks. One that cannot be read throws.
export function takeSnapshot(body, now = new Date(), seconds = 0) {
  const before = new Map([...servers.peek(), ...unlisted].map((one) => [one.id, one]));
  const living = body.instances.filter((one) => !one.on_pipes).map((one) => {
    one.idle_from = one.last_activity ?? (typeof one.idle_seconds === 'number' && !one.busy ? one.started_at : null);
    delete one.idle_seconds; // it ages
    const old = before.get(one.id);
    texts.set(one, JSON.stringify(one));
    return old && texts.get(old) === texts.get(one) ? old : one;
  });
  const instances = living.filter((one) => !one.given_up_since);
  left = merge(left, { was: [...servers.peek(), ...unlisted], instances: living, ended: null, now, reconnected });
  unlisted = living.filter((one) => one.given_up_since);
  // A stream begins with the status, which has told of these before they had left the list.
  const told = (status.peek()?.ended ?? []).filter((one) => left.get(one.instance?.id)?.why !== (one.why ?? ''));
  if (told.length > 0) left = merge(left, { was: [], instances: living, ended: told, now, reconnected });
  reconnected = false;
  for (const parked of servers.peek()) {
    const is = parked.state === 'parked' && !instances.some((one) => one.id === parked.id) && woke(parked, servers.peek(), instances);
    if (is) awake.set(parked.id, is.id);
  }
  for (const id of awake.keys()) if (awake.size > mostAwake) awake.delete(id);
  batch(() => {
    [loaded.value, connected.value, trouble.value, snapshotAt.value, every.value, servers.value] = [true, true, '', now, seconds, instances];
    for (const [list, said] of [[children, body.children], [repeated, body.repeated]]) {
      if (JSON.stringify(said ?? []) !== JSON.stringify(list.peek())) list.value = said ?? [];
    }
    if (JSON.stringify(body.given_up ?? null) !== JSON.stringify(givenUp.peek())) givenUp.value = body.given_up ?? null;
    settle(now);
  });
}

export function takeStatus(body, now = new Date()) {
  left = merge(left, { was: [], instances: [...servers.peek(), ...unlisted], ended: body?.ended ?? [], now, reconnected: false });
  batch(() => {
    status.value = body;
    settle(now);
  });
}

// lost says that what is known may be old, and why.
export function lost(why) {
  reconnected = loaded.peek();
  batch(() => {
    connected.value = false;
    trouble.value = why;
  });
}

// order says what was ordered for an instance; no words mean that it is over.
export function order(id, words) {
  const all = new Map(pending.peek());
  if (words) all.set(id, words);
  else all.delete(id);
  pending.value = all;
}

export function dismiss(id) {
  dismissed.add(id);
  settle();
}

// settle tells what is gone, without what has been gone for long enough.
export function settle(now = new Date()) {
  left = sweep(left, now);
  const list = [...left.values()].filter((one) => !dismissed.has(one.instance.id)).map(({ instance, ended_at, why }) => ({ instance, ended_at, why }));
  if (JSON.stringify(list) !== JSON.stringify(gone.peek())) gone.value = list;
}

// index maps each word of an address to what it means: an id, a pid or a port;
// living ones first, and of several that ended the newest.
const index = computed(() => {
  const all = [...[...servers.value, ...(givenUp.value ? unlisted : [])].map((instance) => ({ instance, ended_at: null, why: null })), ...gone.value.toReversed()];
  const words = new Map();
  for (const field of ['id', 'pid', 'port']) {
    for (const found of all) {
      const word = found.instance[field];
      if (word !== null && word !== undefined && !words.has(String(word))) words.set(String(word), found);
    }
  }
  return words;
});

// find is the instance that a word means. What was parked is found by the id that
// it had.
export function find(word) {
  for (let steps = 0; steps <= mostAwake; steps++) {
    const found = index.value.get(word);
    if (found || !awake.has(word)) return found ?? null;
    word = awake.get(word);
  }
  return null;
}
