// What the page knows. The stream writes it, everything else reads it.

import { merge, sweep } from './gone.js';
import { woke } from './sharing.js';

// Writes between two frames are told once. Without a page there are no frames.
const soon = globalThis.requestAnimationFrame ?? ((fn) => setTimeout(fn, 0));

const mostAwake = 100; // parked ones that are found by the id that they had

class Store {
  // connected is about now; loaded says that there was a snapshot at all; every
  // is the time in seconds between two looks, 0 when all is told at once.
  // trouble is the sentence to show while not connected. pending are words for
  // what this page has ordered and not heard the end of, by id.
  state = { loaded: false, connected: false, trouble: '', at: null, every: 0, instances: [], ended: [], status: null, pending: new Map() };

  #readers = new Set();
  #scheduled = false;
  #gone = new Map(); // id → {instance, ended_at, why, sure}
  #dismissed = new Set();
  #reconnected = false;
  #awake = new Map(); // id that a parked one had → id that it has now, the newest last
  #index = null; // word → what it means, until the next change

  subscribe(fn) {
    this.#readers.add(fn);
    return () => this.#readers.delete(fn);
  }

  // find is the instance that a word of an address means: an id, a pid or a
  // port; living ones first. What was parked is found by the id that it had.
  find(word) {
    this.#index ??= index(this.state);
    for (let steps = 0; steps <= mostAwake; steps++) {
      const found = this.#index.get(word);
      if (found || !this.#awake.has(word)) return found ?? null;
      word = this.#awake.get(word);
    }
    return null;
  }

  dismiss(id) {
    this.#dismissed.add(id);
    this.#settle();
  }

  // snapshot takes the body of an event of the stream, or of an answer where
  // there are only looks.
  snapshot(body, now = new Date(), every = 0) {
    const instances = Array.isArray(body?.instances) ? body.instances : [];
    this.#gone = merge(this.#gone, { before: this.state.instances, instances, ended: null, now, reconnected: this.#reconnected });
    this.#reconnected = false;
    this.#wake(instances);
    Object.assign(this.state, { loaded: true, connected: true, trouble: '', at: now, every, instances });
    this.#settle(now);
  }

  // status takes the body of a status event.
  status(body, now = new Date()) {
    this.state.status = body;
    this.#gone = merge(this.#gone, { before: [], instances: this.state.instances, ended: body?.ended ?? [], now, reconnected: false });
    this.#settle(now);
  }

  // lost says that what is known may be old, and why.
  lost(trouble) {
    this.#reconnected = this.state.loaded;
    if (!this.state.connected && this.state.trouble === trouble) return;
    Object.assign(this.state, { connected: false, trouble });
    this.#tell();
  }

  // answered takes what lamplighter answered about one instance before the
  // stream says the same.
  answered(id, fields) {
    this.state.instances = this.state.instances.map((one) => (one.id === id ? { ...one, ...fields } : one));
    this.#tell();
  }

  // policy takes what lamplighter answered about the policies before the stream
  // says the same.
  policy(fields) {
    this.state.status = { ...this.state.status, policy: { ...this.state.status?.policy, ...fields } };
    this.#tell();
  }

  // order says what was ordered for an instance; no words mean that it is over.
  order(id, words) {
    if (words) this.state.pending.set(id, words);
    else this.state.pending.delete(id);
    this.#tell();
  }

  // tidy forgets what has been gone for long enough.
  tidy(now = new Date()) {
    const before = this.#gone.size;
    this.#gone = sweep(this.#gone, now);
    if (this.#gone.size !== before) this.#settle(now);
  }

  // wake remembers what parked ones that have left the list run as.
  #wake(instances) {
    const living = new Set(instances.map((one) => one.id));
    for (const parked of this.state.instances) {
      const now = parked.state === 'parked' && !living.has(parked.id) && woke(parked, this.state.instances, instances);
      if (now) this.#awake.set(parked.id, now.id);
    }
    for (const id of this.#awake.keys()) {
      if (this.#awake.size <= mostAwake) break;
      this.#awake.delete(id);
    }
  }

  #settle(now = new Date()) {
    this.#gone = sweep(this.#gone, now);
    this.state.ended = [...this.#gone.values()]
      .filter((one) => !this.#dismissed.has(one.instance.id))
      .map(({ instance, ended_at, why }) => ({ instance, ended_at, why }));
    this.#tell();
  }

  #tell() {
    this.#index = null;
    if (this.#scheduled) return;
    this.#scheduled = true;
    soon(() => {
      this.#scheduled = false;
      for (const fn of [...this.#readers]) fn(this.state);
    });
  }
}

// index maps each word to what it means. Of several that ended the newest wins.
export function index(state) {
  const all = [
    ...state.instances.map((instance) => ({ instance, ended_at: null, why: null })),
    ...state.ended.toReversed(),
  ];
  const words = new Map();
  for (const field of ['id', 'pid', 'port']) {
    for (const found of all) {
      const word = found.instance[field];
      if (word !== null && word !== undefined && !words.has(String(word))) words.set(String(word), found);
    }
  }
  return words;
}

export const store = new Store();
export { Store };
