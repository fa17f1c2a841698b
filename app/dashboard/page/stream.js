// @ts-check
// The stream of snapshots, read by fetch: EventSource can neither prove who
// asks nor be told to wait before it tries again.
//
// A browser opens at most six connections to one host over HTTP/1.1, for all its
// windows together, and a stream keeps one for as long as it lasts: so only three
// windows have one, and the others ask every few seconds.

import { get, quick, read, request, tokenNeeded } from './http.js';
import { lost, takeSnapshot, takeStatus } from './store.js';

const silent = 45_000; // ms without a byte, heartbeats included: dead
const shortest = 250;
const longest = 5_000;
const looks = 5_000; // ms between two looks of a window without a stream
export const trouble = 'Lamplighter does not answer; trying again';

// parser returns a function that takes chunks of bytes and calls got(name, data) for
// each event, as lamplighter writes them: at most an "event: " and a "data: ", and an
// empty line. An event without a name is a "message", one without data a heartbeat.
export function parser(got) {
  const decoder = new TextDecoder();
  let text = '';
  return (chunk) => {
    const events = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const field = (name) => event.split('\n').find((line) => line.startsWith(name))?.slice(name.length);
      const data = field('data: ');
      if (data !== undefined) got(field('event: ') ?? 'message', data);
    }
  };
}

// pause is how long to wait before the nth try in a row (from 0): twice as long
// each time, less a random part, so that several pages do not come at once.
export function pause(n, random = Math.random) {
  return Math.min(shortest * 2 ** n, longest) * (0.5 + random() / 2);
}

// takePlace resolves to a function that gives a place for a stream back, or to
// null when all are taken. Without locks nobody can count, and everyone gets one.
export async function takePlace(locks = globalThis.navigator?.locks) {
  const free = () => {};
  if (!locks) return free;
  for (const n of [0, 1, 2]) {
    try {
      const release = await new Promise((resolve, reject) => {
        locks.request(`lamplighter-stream-${n}`, { ifAvailable: true }, (lock) => (lock ? new Promise((done) => resolve(done)) : resolve(null))).catch(reject);
      });
      if (release) return release;
    } catch {
      return free; // locks are forbidden here
    }
  }
  return null;
}

let connection = /** @type {AbortController | null} */ (null); // that is open or being opened
let next = 0; // timer of the next try
let watch = 0; // timer of the silence
let failed = 0; // tries in a row

export function start() {
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  // A page that the browser froze or kept for Back wakes without its connection.
  addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    close();
    open();
  });
  addEventListener('online', retry);
  open();
}

// retry tries at once, if there is no connection; a window that has no stream looks.
export function retry() {
  failed = 0;
  open();
}

async function open() {
  if (document.hidden || connection) return;
  clearTimeout(next);
  const mine = connection = new AbortController();
  let why = trouble;
  let looked = false;
  const leave = await takePlace();
  try {
    if (connection !== mine) return; // closed on purpose
    if (leave) why = await follow(mine);
    else looked = await look(mine.signal);
  } catch (error) {
    if (error.status) why = error.message === tokenNeeded ? tokenNeeded : `${error.message.replace(/\.$/, '')}; trying again`; // whatever ended it, it is opened again
  } finally {
    leave?.();
  }
  if (connection !== mine) return;
  close();
  if (!looked) lost(why);
  next = setTimeout(open, looked ? looks : pause(failed++));
}

// follow reads the stream to its end, and returns why there is none.
async function follow(mine) {
  const listen = (limit) => {
    clearTimeout(watch);
    watch = setTimeout(() => mine.abort(), limit);
  };
  listen(quick); // the status comes at once
  const response = await request('stream', { signal: mine.signal, headers: { Accept: 'text/event-stream' } });
  if (!response.ok) read(response.status, await response.text()); // which throws
  const feed = parser(take);
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || connection !== mine) return trouble;
    listen(silent);
    feed(value);
  }
}

// look asks once for what the stream would tell. One after the other, because
// connections are what there is not enough of.
async function look(signal) {
  const status = await get('status', { signal });
  const instances = await get('instances', { signal });
  if (signal.aborted) return false;
  failed = 0;
  takeStatus(status);
  takeSnapshot(instances, new Date(), looks / 1000);
  return true;
}

function take(name, data) {
  let body;
  try {
    body = JSON.parse(data);
  } catch {
    return; // not for this version of the page
  }
  if (name === 'status') takeStatus(body);
  if (name !== 'message') return;
  takeSnapshot(body); // or it is asked for again, later each time
  failed = 0;
}

function close() {
  clearTimeout(next);
  clearTimeout(watch);
  const old = connection;
  connection = null;
  old?.abort();
}

