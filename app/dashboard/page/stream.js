// The stream of snapshots, read by fetch: EventSource can neither prove who
// asks nor be told to wait before it tries again. A window for which there is no
// place asks every few seconds instead.

import { get, request, sentence, tokenNeeded } from './http.js';
import { takePlace } from './places.js';
import { store } from './store.js';

export const silent = 45_000; // ms without a byte, heartbeats included: dead
const shortest = 250;
const longest = 5_000;
const looks = 5_000; // ms between two looks of a window without a stream
export const trouble = 'Lamplighter does not answer; trying again';

// parser returns a function that takes chunks of bytes and calls got(name,
// data) for each event, as https://html.spec.whatwg.org/multipage/server-sent-events.html
// says. An event without a name is a "message".
export function parser(got) {
  const decoder = new TextDecoder(); // leaves out a byte order mark at the start
  let text = '';
  let name = '';
  let data = null;

  const line = (content) => {
    if (content === '') {
      if (data !== null) got(name || 'message', data);
      name = '';
      data = null;
      return;
    }
    const colon = content.indexOf(':');
    if (colon === 0) return; // a comment
    const field = colon < 0 ? content : content.slice(0, colon);
    const value = colon < 0 ? '' : content.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') name = value;
    else if (field === 'data') data = data === null ? value : `${data}\n${value}`;
  };

  let searched = 0; // no line ends before here
  return (chunk) => {
    text += decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let i = searched; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c !== 10 && c !== 13) continue;
      if (c === 13 && i + 1 === text.length) break; // a LF may follow in the next chunk
      line(text.slice(from, i));
      if (c === 13 && text.charCodeAt(i + 1) === 10) i++;
      from = i + 1;
    }
    text = text.slice(from);
    searched = text.endsWith('\r') ? text.length - 1 : text.length;
  };
}

// pause is how long to wait before the nth try in a row (from 0): twice as long
// each time, less a random part, so that several pages do not come at once.
export function pause(n, random = Math.random) {
  return Math.min(shortest * 2 ** n, longest) * (0.5 + random() / 2);
}

class Stream {
  #abort = null; // of the connection that is open or being opened
  #timer = 0; // of the next try
  #watch = 0; // of the silence
  #failed = 0; // tries in a row

  start() {
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#close() : this.#open()));
    // A page that the browser froze or kept for Back wakes without its connection.
    addEventListener('pageshow', (event) => { if (event.persisted) { this.#close(); this.#open(); } });
    addEventListener('online', () => this.retry());
    if (!document.hidden) this.#open();
  }

  // retry tries at once, if there is no connection.
  retry() {
    if (document.hidden || this.#abort) return;
    this.#failed = 0;
    this.#open();
  }

  async #open() {
    clearTimeout(this.#timer);
    if (this.#abort) return;
    const abort = new AbortController();
    this.#abort = abort;
    let why = trouble;
    let looked = false;
    const leave = await takePlace();
    try {
      if (this.#abort !== abort) return; // closed on purpose
      if (leave) why = await this.#follow(abort);
      else looked = await this.#look(abort);
    } catch (error) {
      // Whatever ended it, it is opened again.
      if (error.status) why = tryingAgain(error.message);
    } finally {
      leave?.();
    }
    if (this.#abort !== abort) return;
    this.#close();
    if (!looked) store.lost(why);
    this.#timer = setTimeout(() => this.#open(), looked ? looks : pause(this.#failed++));
  }

  // #follow reads the stream to its end, and returns why there is none.
  async #follow(abort) {
    this.#listen(abort);
    const response = await request('stream', { signal: abort.signal, headers: { Accept: 'text/event-stream' } });
    if (!response.ok) return refusal(response);
    await this.#read(response, abort);
    return trouble;
  }

  // #look asks once for what the stream would tell. One after the other, because
  // connections are what there is not enough of.
  async #look({ signal }) {
    const status = await get('status', { signal });
    const instances = await get('instances', { signal });
    if (signal.aborted) return false;
    this.#failed = 0;
    store.status(status);
    store.snapshot(instances, new Date(), looks / 1000);
    return true;
  }

  async #read(response, abort) {
    const feed = parser((name, data) => this.#got(name, data));
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#abort !== abort) return;
      this.#listen(abort);
      feed(value);
    }
  }

  #got(name, data) {
    let body;
    try {
      body = JSON.parse(data);
    } catch {
      return; // not for this version of the page
    }
    this.#failed = 0;
    if (name === 'message') store.snapshot(body);
    else if (name === 'status') store.status(body);
  }

  #listen(abort) {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => abort.abort(), silent);
  }

  #close() {
    clearTimeout(this.#timer);
    clearTimeout(this.#watch);
    const abort = this.#abort;
    this.#abort = null;
    abort?.abort();
  }
}

// refusal is what lamplighter said instead of a stream.
async function refusal(response) {
  let answer = null;
  try {
    answer = JSON.parse(await response.text());
  } catch {
    // Then there is only the status.
  }
  return tryingAgain(sentence(response.status, answer));
}

function tryingAgain(words) {
  return words === tokenNeeded ? words : `${words.replace(/\.$/, '')}; trying again`;
}

export const stream = new Stream();
