// @ts-check
// What is asked while somebody looks: each answer once for all parts of the page,
// kept after they have gone, and nothing while the page is hidden or lamplighter
// away.

import { signal, useEffect } from './preact.js';
import { Failure, instance as requests } from './http.js';
import { connected } from './store.js';

export const shown = signal(!globalThis.document?.hidden);
globalThis.document?.addEventListener('visibilitychange', () => {
  shown.value = !document.hidden;
  // Who follows hears of that with the next drawing only, which comes late to a hidden page.
  for (const query of queries.values()) {
    if (query.followers > 0) document.hidden ? query.end() : query.begin();
  }
});

const kept = 300; // answers; one to get_config_overview has some 20 kB
const retry = [3_000, 6_000, 12_000, 20_000]; // ms after the first failure, the second, …

// Answer is what is known: the value, of when it is, and why a later one did not
// come.
/** @typedef {{value: any, at: Date | null, trouble: {absent: boolean, short: string, text: string} | null}} Answer */
/** @type {Answer} */
const nothing = { value: undefined, at: null, trouble: null };

// Unreadable is an answer that is not what its route promises.
export class Unreadable extends Error {}

// Query asks again and again while somebody follows it.
export class Query {
  answer = signal(nothing);
  ask = /** @type {(signal: AbortSignal, before: any) => Promise<any>} */ (async () => undefined);
  followers = 0;
  news = /** @type {string | null} */ (null); // what it was asked for last
  #every;
  #once;
  #timer = 0;
  #control = /** @type {AbortController | null} */ (null);
  #again = false;
  #asked = -Infinity;
  #failures = 0;

  // every is the time in ms between two questions; Infinity asks whenever somebody
  // begins to follow, because something may have happened meanwhile, and with once
  // never again.
  constructor({ every = Infinity, once = false } = {}) {
    this.#every = every;
    this.#once = once;
  }

  // follow begins to ask, and returns what ends that.
  follow() {
    if (this.followers++ === 0) this.begin();
    return () => {
      if (--this.followers === 0) this.end();
    };
  }

  begin() {
    const { value, trouble } = this.answer.peek();
    const due = this.#every === Infinity ? 0 : this.#asked + this.#every - Date.now();
    if (!trouble?.absent && !(this.#once && value !== undefined)) this.#later(this.#failures > 0 ? 0 : due);
  }

  end() {
    clearTimeout(this.#timer);
    if (this.#control) this.#asked = -Infinity; // it got no answer
    this.#control?.abort();
    this.#control = null;
  }

  // refresh asks now, or once more after the question that is under way.
  refresh() {
    if (this.followers === 0 || this.answer.peek().trouble?.absent) return;
    if (this.#control) this.#again = true;
    else this.#later(0);
  }

  #later(wait) {
    clearTimeout(this.#timer);
    if (wait < Infinity) this.#timer = setTimeout(() => this.#run(), Math.max(wait, 0));
  }

  async #run() {
    const control = this.#control = new AbortController();
    this.#again = false;
    this.#asked = Date.now();
    let wait = this.#every;
    try {
      const value = await this.ask(control.signal, this.answer.peek().value);
      if (control.signal.aborted) return;
      this.#failures = 0;
      this.answer.value = { value, at: new Date(), trouble: null };
    } catch (error) {
      if (control.signal.aborted) return;
      if (!(error instanceof Failure) && !(error instanceof Unreadable)) reportError(error);
      wait = retry[Math.min(this.#failures++, retry.length - 1)];
      this.answer.value = { ...this.answer.peek(), trouble: troubleOf(error) };
    }
    this.#control = null;
    if (!this.answer.peek().trouble?.absent) this.#later(this.#again ? 0 : wait);
  }
}

// troubleOf says in short words why an answer did not come. absent means that
// there is no such route.
function troubleOf(error) {
  const short = { 404: 'not offered', 405: 'not offered', 504: 'it does not answer', 0: 'lamplighter does not answer' }[error.status] ?? 'the last request failed';
  return { absent: error.status === 404 || error.status === 405, short, text: error.message };
}

const queries = new Map(); // key → Query, the one used last at the end

// queryOf is the query with a key, the same for all who name it.
export function queryOf(key, options) {
  const query = queries.get(key) ?? new Query(options);
  queries.delete(key);
  queries.set(key, query);
  for (const [old, { followers }] of queries) {
    if (queries.size <= kept) break;
    if (followers === 0) queries.delete(old);
  }
  return query;
}

// answerTo is what is known by now, asked or not.
export const answerTo = (key) => queries.get(key)?.answer.peek() ?? nothing;

// useQuery follows a query while on is true, and asks at once when news is another
// than before. The result is its Answer.
/** @type {(key: string, ask: (signal: AbortSignal, before: any) => Promise<any>, options?: {on?: boolean, news?: string, every?: number, once?: boolean}) => Answer} */
export const useQuery = (key, ask, { on = true, news = '', ...options } = {}) => {
  const query = queryOf(key, options);
  query.ask = ask;
  const live = on && shown.value && connected.value;
  useEffect(() => (live ? query.follow() : undefined), [query, live]);
  useEffect(() => {
    if (!news) return;
    if (query.news !== null && query.news !== news) query.refresh();
    query.news = news;
  }, [query, news]);
  return query.answer.value;
};

const gap = 1_000; // ms between two requests to one instance
const burst = 6; // requests at once when a view begins

// Budget queues what is forwarded to one instance: a short burst when somebody
// begins to look at it, and then at most one request a second.
export class Budget {
  #queue = /** @type {(() => void)[]} */ ([]);
  #last = -Infinity;
  #begun = -Infinity;
  #free = 0;
  #timer = 0;

  // begin allows another burst, unless there was one a moment ago: who flips
  // through tabs does not flood the instance.
  begin() {
    if (Date.now() - this.#begun < burst * gap) return;
    this.#begun = Date.now();
    this.#free = burst;
  }

  // turn resolves when a request may be made. One whose signal is aborted while it
  // waits is never made.
  turn(signal) {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const go = () => {
        signal.removeEventListener('abort', leave);
        resolve(undefined);
      };
      const leave = () => {
        this.#queue = this.#queue.filter((one) => one !== go);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(go);
      this.#pump();
    });
  }

  // spend counts a request that a person ordered: it does not wait, and the others
  // wait for longer.
  spend() {
    this.#last = Date.now();
  }

  #pump() {
    clearTimeout(this.#timer);
    while (this.#queue.length > 0) {
      const free = this.#free > 0 && Date.now() - this.#begun < gap;
      const wait = free ? 0 : this.#last + gap - Date.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#pump(), wait);
        return;
      }
      if (free) this.#free--;
      this.spend();
      this.#queue.shift()?.();
    }
  }
}

const budgets = new Map(); // id → Budget

export function budget(id) {
  if (!budgets.has(id)) budgets.set(id, new Budget());
  return budgets.get(id);
}

// asked asks an instance when its budget allows it.
export async function asked(id, signal, ask) {
  await budget(id).turn(signal);
  return ask(requests(id));
}

// ordered asks an instance at once, because a person ordered it.
export function ordered(id, ask) {
  budget(id).spend();
  return ask(requests(id));
}
