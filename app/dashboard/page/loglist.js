// The rows of a log: which messages are shown, in what nodes, with what marked.

import { h, replace, setAttribute } from './dom.js';
import { count } from './format.js';
import { countLines, rank, split, weight } from './logline.js';
import { finder, mostHits, pieces } from './logsearch.js';
import { nextFrame, slicer } from './slices.js';

export const mostLines = 10_000; // that are in the page at once

const perChunk = 100; // rows; a chunk that is out of sight costs no layout

const dayName = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

export class LogList {
  element = h('div', { class: 'log-rows' });
  records = []; // all that are held, oldest first
  shown = []; // those that pass the level
  hits = []; // {record, part, number}, in the order of the rows
  lines = 0;

  #level = 0;
  #find = finder('');
  #marked = new Set();
  #stale = new Set(); // whose marks are those of an earlier search
  #painting = false;
  #current = null;

  // append takes parsed messages; it returns how many of them are shown.
  append(messages) {
    let level = this.records.at(-1)?.effective ?? 'INFO';
    const added = messages.map((message) => {
      level = message.level ?? level; // what has no level belongs to what was before it
      return record(message, level);
    });
    return this.#add(added, false);
  }

  // prepend takes messages that were before all others.
  prepend(messages) {
    let level = 'INFO';
    return this.#add(messages.map((message) => {
      level = message.level ?? level;
      return record(message, level);
    }), true);
  }

  // note adds a row that is no message, such as that the log was cleared.
  note(text) {
    this.#add([{ ...record({ level: null, day: '', text, raw: '' }, null), isNote: true }], false);
  }

  setLevel(word) {
    this.#level = Math.max(rank(word), 0);
    this.#layOut();
  }

  // search lists in hits where the query is, at once, and marks it soon.
  search(query) {
    this.#find = finder(query);
    this.#findAll();
  }

  // show makes a hit the current one and returns where it is; null is none.
  show(hit) {
    this.#current?.classList.remove('log-current');
    this.#current = null;
    if (!hit) return null;
    const { record: one, part, number } = hit;
    if (this.#stale.delete(one)) paint(one);
    if (part === 'text' && !one.unfolded && one.found[number][1] > one.cut.shown.length) one.unfold();
    this.#current = one.nodes[part].querySelector(`mark[data-hit="${number}"]`);
    this.#current?.classList.add('log-current');
    return this.#current ?? one.node;
  }

  // trim lets the oldest go until at most so many lines are held, and tells
  // whether it did.
  trim(most = mostLines) {
    let n = 0;
    while (this.lines > most && n < this.records.length - 1) this.lines -= this.records[n++].weight;
    if (n === 0) return false;
    const old = new Set(this.records.splice(0, n));
    this.shown = this.shown.filter((one) => !old.has(one));
    this.hits = this.hits.filter((hit) => !old.has(hit.record));
    for (const one of old) {
      this.#stale.delete(one);
      const chunk = one.node?.parentNode;
      one.node?.remove();
      if (chunk && chunk.childElementCount === 0) chunk.remove();
      else if (chunk) measure(chunk);
    }
    if (this.shown.length > 0) setDay(this.shown[0], null);
    return true;
  }

  // rest lets the rows go, but not the messages; setLevel makes them again.
  rest() {
    this.element.replaceChildren();
    this.#marked.clear();
    this.#stale.clear();
    this.#current = null;
    for (const one of this.records) one.node = one.nodes = null;
  }

  // recordsOf are the shown messages that a selection touches.
  recordsOf(selection) {
    return this.shown.filter((one) => selection.containsNode(one.node, true));
  }

  #passes(one) {
    return one.isNote || rank(one.effective) >= this.#level;
  }

  #add(added, before) {
    const fresh = added.filter((one) => this.#passes(one));
    this.records = before ? [...added, ...this.records] : this.records.concat(added);
    for (const one of added) this.lines += one.weight;
    const last = this.shown.at(-1) ?? null;
    const first = this.shown[0];
    this.shown = before ? [...fresh, ...this.shown] : this.shown.concat(fresh);
    this.#rows(fresh, before ? null : last, before);
    if (before && first && fresh.length > 0) setDay(first, fresh.at(-1));
    for (const one of this.#findIn(fresh, before)) paint(one);
    return fresh.filter((one) => !one.isNote).length;
  }

  // #rows puts rows before all others, or after them.
  #rows(fresh, previous, before) {
    const made = document.createDocumentFragment();
    let chunk = before ? null : this.element.lastElementChild;
    const touched = new Set();
    for (const one of fresh) {
      if (!chunk || chunk.childElementCount >= perChunk) {
        chunk = h('div', { class: 'log-chunk' });
        made.append(chunk);
      }
      makeRow(one);
      setDay(one, previous);
      chunk.append(one.node);
      touched.add(chunk);
      previous = one;
    }
    touched.forEach(measure);
    if (before) this.element.prepend(made);
    else this.element.append(made);
  }

  // #layOut puts all rows anew. The chunks are new ones, because a browser
  // remembers how high an old one was.
  #layOut() {
    this.shown = this.records.filter((one) => this.#passes(one));
    this.element.replaceChildren();
    this.#rows(this.shown, null, false);
    this.#findAll();
  }

  #findAll() {
    this.hits = [];
    const before = this.#marked;
    this.#marked = new Set();
    this.#current = null;
    for (const one of this.#findIn(this.shown, false)) this.#stale.add(one);
    for (const one of before) {
      if (this.#marked.has(one)) continue;
      one.found = one.foundFrom = [];
      this.#stale.add(one);
    }
    this.#paintSoon();
  }

  // #paintSoon writes the marks of what is stale, in short pieces.
  async #paintSoon() {
    if (this.#painting || this.#stale.size === 0) return;
    this.#painting = true;
    await nextFrame();
    const rest = slicer();
    while (this.#stale.size > 0) {
      const [one] = this.#stale; // a newer search may have changed what there is
      this.#stale.delete(one);
      if (one.node && !one.isNote) paint(one);
      await rest();
    }
    this.#painting = false;
  }

  // #findIn goes back from the newest: of too many hits, those are listed. It
  // returns what has to be painted.
  #findIn(list, before) {
    const changed = [];
    const found = [];
    let room = mostHits - this.hits.length;
    for (let i = list.length - 1; i >= 0 && room > 0; i--) {
      const one = list[i];
      if (one.isNote) continue;
      one.foundFrom = this.#find(one.from).slice(0, room);
      one.found = this.#find(one.text).slice(0, room - one.foundFrom.length);
      if (one.found.length + one.foundFrom.length === 0) continue;
      room -= one.found.length + one.foundFrom.length;
      found.push([
        ...one.foundFrom.map((_, number) => ({ record: one, part: 'from', number })),
        ...one.found.map((_, number) => ({ record: one, part: 'text', number })),
      ]);
      this.#marked.add(one);
      changed.push(one);
    }
    const hits = found.reverse().flat();
    this.hits = before ? [...hits, ...this.hits] : this.hits.concat(hits);
    return changed;
  }
}

function record(message, effective) {
  return {
    ...message, effective, isNote: false, weight: weight(message.text), cut: split(message.text), unfolded: false,
    found: [], foundFrom: [], node: null, nodes: null,
  };
}

function makeRow(one) {
  if (one.node) return;
  if (one.isNote) {
    one.node = h('div', { class: 'log-row log-note' }, one.text);
    return;
  }
  const from = h('span', { class: 'log-from', title: [one.thread && `[${one.thread}]`, one.source].filter(Boolean).join(' ') || null });
  const text = h('span', { class: 'log-text', dir: 'auto' });
  one.nodes = { from, text };
  one.unfold = () => {
    one.unfolded = true;
    paint(one);
  };
  one.node = h('div', { class: `log-row log-${one.effective.toLowerCase()}` },
    one.clock && [
      h('span', { class: 'log-clock', title: `${one.day} ${one.clock}.${one.millis}` }, one.clock, h('span', { class: 'log-millis' }, `.${one.millis}`)), ' ',
      h('span', { class: 'log-level' }, one.level), ' ', from, ' ',
    ],
    text);
  paint(one);
}

// paint writes the text of a row, with its marks.
function paint(one) {
  replace(one.nodes.from, marked(one.from, one.foundFrom));
  const { shown, rest } = one.unfolded ? { shown: one.text, rest: '' } : one.cut;
  replace(one.nodes.text, marked(shown, one.found), rest && foldButton(one, rest));
}

function marked(text, hits) {
  return pieces(text, hits).map(({ text: part, hit }) => (hit < 0 ? part : h('mark', { dataset: { hit } }, part)));
}

function foldButton(one, rest) {
  const n = countLines(rest);
  const hidden = one.found.filter(([, end]) => end > one.cut.shown.length).length;
  const more = n > 1 ? `${count(n)} more lines` : `${count(rest.length)} more characters`;
  const found = hidden > 0 ? `, ${count(hidden)} found` : '';
  return h('button', { type: 'button', class: 'log-unfold quiet small', onclick: () => one.unfold() }, `Show ${more}${found}`);
}

// setDay lets a row begin a day, when the one before it is of another.
function setDay(one, previous) {
  const day = one.day || previous?.dayShown || '';
  one.dayShown = day;
  const begins = day && day !== previous?.dayShown;
  if (one.node) setAttribute(one.node, 'data-day', begins ? nameOfDay(day) : null);
}

function nameOfDay(day) {
  const date = new Date(`${day}T12:00:00`);
  return Number.isNaN(date.getTime()) ? day : dayName.format(date);
}

// measure says how high a chunk is about, until it is seen.
function measure(chunk) {
  chunk.style.setProperty('--rows', chunk.childElementCount);
}
