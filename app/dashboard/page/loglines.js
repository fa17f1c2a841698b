// @ts-check
// The lines of a log as data: how one is read and shown, how many are kept, and how
// they are searched. Pure.

import { count } from './format.js';

export const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'];

// Python's other levels, shown as the nearest of ours.
const aliases = { CRITICAL: 'ERROR', FATAL: 'ERROR', WARN: 'WARNING', NOTSET: 'DEBUG' };

// What Serena puts before the text never takes that many characters.
const headMost = 600;

const head = /^([A-Z]{2,10})\s+(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[,.](\d{1,6}) (?:\[([^\]\n]*)\] )?(?:([^\s:]+):([^\s:]*):(\d+) - )?/;

// parse reads a message. What is not in Serena's format is all text: level is
// null then, and day and clock are empty. The clock is Serena's local one.
export function parse(message) {
  const raw = clean(message);
  const found = head.exec(raw.slice(0, headMost));
  const level = found ? aliases[found[1]] ?? (levels.includes(found[1]) ? found[1] : null) : null;
  if (!level) return { level: null, day: '', clock: '', millis: '', thread: '', source: '', from: '', text: raw, raw };
  const [all, , day, clock, millis, thread = '', logger = '', method = '', line = ''] = found;
  const source = logger ? `${logger}:${method}:${line}` : '';
  return { level, day, clock, millis: millis.slice(0, 3), thread, source, from: origin(thread, logger), text: raw.slice(all.length), raw };
}

// origin is where a message came from, short: the task it belongs to, else the
// last part of the logger's name.
function origin(thread, logger) {
  const task = /^Task-\d+:(.+)$/.exec(thread);
  if (task) return task[1];
  return logger.slice(logger.lastIndexOf('.') + 1) || thread;
}

// rank orders levels; what has none is shown with what it follows.
export function rank(level) {
  return levels.indexOf(level);
}

// Sequences that colour or move on a terminal: CSI, OSC and the short ones.
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])/g;
const controls = /[\x00-\x08\x0b-\x1f\x7f]/g;
const disturbing = /[\x80-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

// clean makes foreign text harmless to show: terminal sequences vanish, other
// control characters are written like \x07, and what could turn the direction
// of what follows, or hide, becomes U+FFFD.
export function clean(message) {
  const text = String(message).toWellFormed().replace(/\r\n?/g, '\n');
  return text.replace(escapes, '').replace(controls, written).replace(disturbing, '\ufffd').replace(/\n+$/, '');
}

function written(character) {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

// split cuts a long text into what is shown at once and the rest, at the end of
// a line where there is one. Few more lines are no reason to cut.
export function split(text, { lines = 30, characters = 8_000, spare = 10 } = {}) {
  let end = 0;
  let n = 0;
  for (let next = -1; n < lines + spare; n++) {
    next = text.indexOf('\n', next + 1);
    if (next < 0 || next >= characters) break;
    if (n < lines) end = next + 1;
  }
  const short = text.length <= characters;
  if (short && n < lines + spare) return { shown: text, rest: '' };
  if (end === 0 || !short && n < lines) end = wellFormedCut(text, characters);
  return { shown: text.slice(0, end), rest: text.slice(end) };
}

// wellFormedCut does not part the two halves of one character.
function wellFormedCut(text, at) {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}

export function countLines(text) {
  let n = 1;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) n++;
  return n;
}

// weight is what showing a message costs, in lines.
export function weight(text) {
  return Math.max(countLines(text), Math.ceil(text.length / 400));
}

export const atFirst = 500; // messages
const perStep = 500; // messages, with "Load earlier"

const beyond = 2 ** 30; // no messages, only their number

export class Pages {
  known = false; // how many there are
  first = 0; // index of the oldest message held
  next = 0; // index of the one that comes next
  whole = false; // there are none before first

  #begun = false;

  // ask is the start_idx of the next request.
  ask() {
    return this.known ? this.next : beyond;
  }

  // take reads an answer to ask(). messages are new ones; cleared says that the
  // log was emptied before them, lost how many of the new ones Serena dropped
  // before they were asked for, and again that there is more to ask for at once.
  take(answer) {
    const { messages, max } = read(answer);
    if (!this.known || max < this.next - 1) {
      const cleared = this.#begun;
      this.known = true;
      this.#begun = false;
      this.next = this.first = Math.max(max + 1 - atFirst, 0);
      this.whole = this.first === 0;
      return { messages: [], cleared, lost: 0, again: max >= 0 };
    }
    if (messages.length === 0) return { messages, cleared: false, lost: 0, again: false };
    const begin = max - messages.length + 1;
    const fresh = messages.slice(Math.max(this.next - begin, 0));
    const lost = this.#begun ? Math.max(begin - this.next, 0) : 0;
    if (!this.#begun) {
      this.first = Math.max(begin, this.next);
      this.whole ||= begin > this.next;
    }
    this.#begun = true;
    this.next = max + 1;
    return { messages: fresh, cleared: false, lost, again: false };
  }

  // askEarlier is the start_idx of a request for what came before first.
  askEarlier() {
    return Math.max(this.first - perStep, 0);
  }

  // takeEarlier reads an answer to askEarlier, which goes up to the newest
  // message; only those before first are returned.
  takeEarlier(asked, answer) {
    const { messages, max } = read(answer);
    if (max < this.next - 1) return []; // cleared meanwhile; take will find out
    const begin = max - messages.length + 1;
    const earlier = begin < this.first ? messages.slice(0, this.first - begin) : [];
    this.first -= earlier.length;
    this.whole = begin === 0 || begin > asked;
    return earlier;
  }
}

// read checks an answer, which comes from another program.
function read(answer) {
  if (Array.isArray(answer?.messages) && Number.isSafeInteger(answer.max_idx)) {
    return { messages: answer.messages.map(String), max: Math.max(answer.max_idx, answer.messages.length - 1, -1) };
  }
  throw new Error(typeof answer?.message === 'string' ? answer.message : 'it answered with something else than its log');
}

export const mostHits = 2_000; // more are neither counted nor marked

// finder makes a function that lists where a text holds the query, as
// [begin, end] pairs; case does not matter. An empty query finds nothing.
export function finder(query) {
  if (!query) return () => [];
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'gi');
  return (text) => Array.from(text.matchAll(pattern), (found) => [found.index, found.index + found[0].length]);
}

// step goes from a hit to the next (1) or previous (-1) one, around the ends.
export function step(at, by, all) {
  if (all === 0) return -1;
  if (at < 0) return by > 0 ? 0 : all - 1;
  return (at + by + all) % all;
}

// pieces cuts text at the hits: [{text, hit}], hit is the hit's number or -1.
// Hits beyond the text are left out, one that crosses its end is cut.
export function pieces(text, hits) {
  const list = [];
  let at = 0;
  for (const [i, [begin, end]] of hits.entries()) {
    const last = Math.min(end, text.length);
    if (begin >= last) continue;
    if (begin > at) list.push({ text: text.slice(at, begin), hit: -1 });
    list.push({ text: text.slice(begin, last), hit: i });
    at = last;
  }
  if (at < text.length) list.push({ text: text.slice(at), hit: -1 });
  return list;
}

export function foundWords(query, at, hits) {
  if (!query) return '';
  if (hits === 0) return 'None found';
  const all = hits >= mostHits ? `${count(mostHits)} and more` : count(hits);
  return at < 0 ? `${all} found` : `${count(at + 1)} of ${all}`;
}
