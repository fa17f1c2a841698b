// Start at login: how it stands, which all its switches on the page share, and
// how to switch it.

import { get, queued, send } from './http.js';
import { sentence } from './format.js';

// standing says what does it, or what follows while nothing does, and what is odd
// about it. '' says nothing.
export function standing({ on, can, how, why }) {
  const does = on && how ? `By ${/^[aeiou]/i.test(how) ? 'an' : 'a'} ${how}.` : '';
  const off = !on && can ? 'Off: you start it yourself after each login.' : '';
  return [does || off, why ? sentence(why) : ''].filter(Boolean).join(' ');
}

// AtLogin knows how start at login stands as of the last answer. ask and order
// are of http.js.
export class AtLogin {
  #readers = new Set();
  #orders = 0; // an answer from before an order says nothing any more
  #ask;
  #order;

  value = null; // {on, can, how, why}; null: not known yet
  trouble = ''; // why it was not switched, or is not known: a sentence
  working = false;

  constructor({ ask = () => get('login'), order = (on) => send('PUT', 'login', { on }, { limit: queued }) } = {}) {
    this.#ask = ask;
    this.#order = order;
  }

  // subscribe has fn called now and at each change.
  subscribe(fn) {
    this.#readers.add(fn);
    fn(this);
  }

  // take takes an answer that came with another one.
  take(value) {
    if (this.working || !value) return;
    this.value = value;
    this.#tell();
  }

  // look asks how it stands now. What is shown stays when nobody answers.
  async look() {
    const before = this.#orders;
    try {
      const value = await this.#ask();
      if (before !== this.#orders) return;
      if (!this.value) this.trouble = '';
      this.value = value;
    } catch (error) {
      if (before !== this.#orders || this.value) return;
      this.trouble = sentence(error.message);
    }
    this.#tell();
  }

  // set switches it and resolves to whether it is so now.
  async set(on) {
    if (this.working) return false;
    this.#orders++;
    this.working = true;
    this.trouble = '';
    this.#tell();
    try {
      this.value = await this.#order(on);
    } catch (error) {
      this.trouble = sentence(error.message);
    }
    this.working = false;
    this.#tell();
    if (this.trouble) await this.look(); // it may be another way than it was
    return this.trouble === '' && this.value.on === on;
  }

  #tell() {
    for (const fn of this.#readers) fn(this);
  }
}

export const atLogin = new AtLogin();
