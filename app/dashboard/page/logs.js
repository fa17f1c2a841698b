// The log of an instance, live.

import { h, replace, setText } from './dom.js';
import { instance } from './http.js';
import { Follow } from './logfollow.js';
import { LogList, mostLines } from './loglist.js';
import { Pages } from './logpages.js';
import { bind } from './keys.js';
import { budget } from './poll.js';
import { count } from './format.js';
import { logBar } from './logbar.js';
import { parse } from './logline.js';
import { say } from './notice.js';
import { firstFrom, groups, slicer } from './slices.js';
import { missed, step } from './logsearch.js';

const every = 2_000; // ms between two looks
const everyMost = 10_000; // ms, while it does not answer
const orderMost = 60_000; // ms for what a person ordered; a log may be long
const perStep = 25; // messages that are added between two looks at the time
const sessionsMost = 6; // instances whose log is kept while another one is shown

export function logsView() {
  return new LogsView();
}

// Session is what is held of one instance's log.
class Session {
  pages = new Pages();
  list = new LogList();
  full = false; // the oldest messages had to go
  cleared = false; // what is older is of before
  trouble = '';
  wait = every;
  adding = Promise.resolve(); // ends when what was read is in the list

  constructor(id) {
    this.id = id;
  }
}

class LogsView {
  #found = null;
  #session = null;
  #sessions = new Map(); // by id, the latest shown last
  #active = false;
  #request = null; // AbortController of what is under way
  #timer = 0;
  #hit = null;

  #bar = logBar({
    level: (word) => this.#setLevel(word),
    search: (query) => this.#search(query),
    step: (by) => this.#step(by),
    follow: (on) => (on ? this.#follow.begin() : this.#follow.end()),
    wrap: (on) => this.#setWrap(on),
    copy: () => this.#copy(),
    download: () => this.#download(),
  });
  #earlier = h('button', { type: 'button', class: 'small', onclick: () => this.#loadEarlier() }, 'Load earlier');
  #missedWords = h('span', { role: 'status' });
  #earlierHere = h('button', { type: 'button', class: 'small', onclick: () => this.#loadEarlier() }, 'Load earlier');
  #missed = h('p', { class: 'log-missed muted', hidden: true }, this.#missedWords, ' ', this.#earlierHere);
  #above = h('p', { class: 'log-above muted' });
  #rows = h('div', { class: 'log-holder' });
  #empty = h('p', { class: 'log-empty muted' });
  #box = h('div', { class: 'log-list', role: 'log', 'aria-live': 'off', 'aria-label': 'Log messages', tabindex: '0' },
    h('div', { class: 'log-top' }, this.#earlier, this.#above), this.#rows, this.#empty);
  #below = h('button', { type: 'button', class: 'log-below primary', hidden: true });
  #trouble = h('p', { class: 'log-trouble', role: 'status', hidden: true });
  #follow = new Follow(this.#box, this.#below, (following) => this.#bar.setFollow(following));

  element = h('section', { class: 'logs', 'aria-label': 'Logs' },
    h('h2', { class: 'unseen' }, 'Logs'), this.#bar.element, this.#trouble, this.#missed, h('div', { class: 'log-frame' }, this.#box, this.#below));

  constructor() {
    const here = { when: () => this.#active };
    bind('/', 'search the log', () => this.#bar.search.select(), here);
    bind('n', 'next match in the log', () => this.#step(1), here);
    bind('N', 'previous match in the log', () => this.#step(-1), here);
    bind('f', 'follow the log, or let go of its end', () => (this.#follow.following ? this.#follow.end() : this.#follow.begin()), here);
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#rest() : this.#poll()));
    this.#setWrap(this.#bar.wraps());
  }

  // show takes what the store says of an instance. paused, where it is given,
  // says that nobody can be asked now.
  show(found) {
    this.#active = true;
    this.#found = found;
    if (this.#session?.id !== found.instance.id) this.#open(found.instance.id);
    this.#tell();
    this.#follow.watch(this.#rows);
    budget(found.instance.id).begin();
    this.#poll();
  }

  update(found) {
    if (!this.#active) return;
    if (this.#session?.id !== found.instance.id) {
      this.hide();
      this.show(found);
      return;
    }
    const before = this.#readable;
    this.#found = found;
    if (before && !this.#readable) this.#rest();
    this.#tell();
    if (!before) this.#poll();
  }

  hide() {
    this.#active = false;
    this.#rest();
  }

  // #open shows the log of another instance, with what is held of it already.
  #open(id) {
    this.#rest();
    this.#session?.list.rest();
    const session = this.#sessions.get(id) ?? new Session(id);
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    for (const old of this.#sessions.keys()) if (this.#sessions.size > sessionsMost) this.#sessions.delete(old);
    this.#session = session;
    replace(this.#rows, session.list.element);
    session.list.setLevel(this.#bar.level());
    this.#search(this.#bar.search.value, { jump: false });
    this.#follow.begin();
  }

  get #readable() {
    const { instance: one, ended_at: ended, paused } = this.#found;
    return this.#active && !document.hidden && !ended && !paused && Boolean(one.port);
  }

  #rest() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#request?.abort();
    this.#request = null;
  }

  async #poll() {
    clearTimeout(this.#timer);
    if (!this.#readable || this.#request) return;
    const session = this.#session;
    const request = (this.#request = new AbortController());
    try {
      for (let again = true; again;) {
        await session.adding; // also of an earlier visit, because the order counts
        if (request.signal.aborted) return;
        const answer = await this.#ask(session, session.pages.ask(), request.signal);
        if (request.signal.aborted) return;
        const news = session.pages.take(answer);
        again = news.again;
        session.adding = this.#take(session, news);
      }
      await session.adding;
      if (request.signal.aborted) return;
      session.trouble = '';
      session.wait = every;
    } catch (error) {
      if (request.signal.aborted) return;
      session.adding = Promise.resolve();
      session.trouble = error.message;
      session.wait = Math.min(2 * session.wait, everyMost);
    }
    this.#request = null;
    this.#tell();
    this.#timer = setTimeout(() => this.#poll(), session.wait);
  }

  #ask(session, start, signal) {
    return budget(session.id).run(() => instance(session.id).post('get_log_messages', { start_idx: start }, { signal }), { signal });
  }

  // #order asks because a person ordered it.
  #order(session, start) {
    return budget(session.id).run(() => instance(session.id).post('get_log_messages', { start_idx: start }, { limit: orderMost }), { urgent: true });
  }

  // #take shows new messages, in short pieces. It goes on when the view is left:
  // what was read is not asked for again.
  async #take(session, { messages, cleared, lost }) {
    const { list } = session;
    const rest = slicer();
    session.cleared ||= cleared;
    if (cleared) list.note('The log was cleared here.');
    if (lost > 0) list.note(`${count(lost)} messages were dropped by the server before they could be read.`);
    for (const some of groups(messages, perStep)) {
      const shown = list.append(some.map(parse));
      session.full = list.trim(this.#follow.following ? mostLines : 2 * mostLines) || session.full;
      if (session === this.#session) this.#follow.grew(shown);
      await rest();
    }
  }

  async #loadEarlier() {
    const session = this.#session;
    const { pages, list } = session;
    this.#earlier.disabled = this.#earlierHere.disabled = true;
    try {
      const asked = pages.askEarlier();
      const earlier = pages.takeEarlier(asked, await this.#order(session, asked));
      const fromEnd = this.#box.scrollHeight - this.#box.scrollTop;
      this.#follow.end();
      list.prepend(earlier.map(parse));
      if (session === this.#session) this.#box.scrollTop = this.#box.scrollHeight - fromEnd;
    } catch (error) {
      say(`Earlier messages were not loaded: ${error.message}`, { kind: 'bad' });
    }
    this.#earlier.disabled = this.#earlierHere.disabled = false;
    this.#tell();
  }

  #setLevel(word) {
    this.#session?.list.setLevel(word);
    this.#hit = null;
    if (this.#bar.search.value) this.#search(this.#bar.search.value);
    if (this.#follow.following) this.#follow.begin();
    this.#tell();
  }

  #setWrap(on) {
    this.#box.classList.toggle('log-nowrap', !on);
    if (this.#follow.following) this.#follow.begin();
  }

  // #search marks what is found and goes to the one nearest to what is in view.
  #search(query, { jump = true } = {}) {
    const { list } = this.#session;
    list.search(query);
    this.#hit = null;
    if (jump && list.hits.length > 0) {
      const top = this.#box.getBoundingClientRect().top;
      const inView = this.#follow.following ? list.hits.at(-1) : firstFrom(list.hits, (hit) => hit.record.node.getBoundingClientRect().bottom > top);
      this.#goTo(inView ?? list.hits.at(-1));
    }
    this.#tell();
  }

  #step(by) {
    const { hits } = this.#session.list;
    const at = step(hits.indexOf(this.#hit), by, hits.length);
    if (at >= 0) this.#goTo(hits[at]);
    this.#tell();
  }

  #goTo(hit) {
    this.#hit = hit;
    const node = this.#session.list.show(hit);
    node?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  // #tell says how things stand, around the rows.
  #tell() {
    const { list, pages, trouble, full, cleared } = this.#session;
    const { instance: one, ended_at: ended } = this.#found;
    const known = list.records.filter((record) => !record.isNote).length;
    const shown = list.shown.filter((record) => !record.isNote).length;
    this.#bar.setHeld(shown, known);
    this.#bar.setFound(list.hits.indexOf(this.#hit), list.hits.length);

    const room = !full && !cleared && list.lines < mostLines;
    const more = pages.known && !pages.whole && !ended;
    const words = missed({ known, shown, hits: list.hits.length, query: this.#bar.search.value, level: this.#bar.level(), older: !pages.whole });
    setText(this.#missedWords, words);
    this.#missed.hidden = words === '';
    this.#earlierHere.hidden = !more || !room;
    this.#earlier.hidden = !more || !room || known === 0 || words !== '';
    setText(this.#above, aboveWords({ known, more, room, cleared, ended, pages }));
    this.#above.hidden = this.#above.textContent === '';

    const wrong = this.#troubleWords(one, ended, trouble, known);
    this.#trouble.hidden = wrong === '';
    this.#trouble.classList.toggle('log-ended', Boolean(ended));
    setText(this.#trouble, wrong);

    setText(this.#empty, emptyWords({ known, ended, one, pages, trouble }));
    this.#empty.hidden = this.#empty.textContent === '';
  }

  #troubleWords(one, ended, trouble, known) {
    if (ended) return known > 0 ? 'This server has ended. These are the messages that the page had read.' : '';
    return trouble && one.port ? `The log cannot be read: ${trouble.replace(/\.$/, '')}. Trying again.` : '';
  }

  #copy() {
    const { list } = this.#session;
    const selection = getSelection();
    const selected = selection && !selection.isCollapsed && selection.anchorNode && this.#box.contains(selection.anchorNode) ? list.recordsOf(selection) : [];
    const records = (selected.length > 0 ? selected : list.shown).filter((record) => !record.isNote);
    if (records.length === 0) return;
    navigator.clipboard.writeText(text(records.map((record) => record.raw))).then(
      () => say(`Copied ${records.length === 1 ? '1 message' : `${count(records.length)} messages`}.`),
      () => say('Not copied: the browser does not allow it. Select the messages and copy them with the keyboard.', { kind: 'bad' }));
  }

  // #download saves everything that the instance keeps, as it wrote it; of one
  // that has ended, what the page had read.
  async #download() {
    const session = this.#session;
    const { instance: one, ended_at: ended } = this.#found;
    this.#bar.download.disabled = true;
    try {
      let messages = session.list.records.filter((record) => !record.isNote).map((record) => record.raw);
      if (!ended && one.port) messages = (await this.#order(session, 0)).messages;
      save(fileName(one.label), text(messages));
    } catch (error) {
      say(`The log was not saved: ${error.message}`, { kind: 'bad' });
    }
    this.#bar.download.disabled = false;
  }
}

function aboveWords({ known, more, room, cleared, ended, pages }) {
  if (known === 0) return '';
  if (!room) return cleared ? '' : `The page keeps the newest ${count(mostLines)} lines.`;
  if (more || ended) return '';
  return pages.first === 0 ? 'The log begins here.' : 'The server keeps nothing older.';
}

function emptyWords({ known, ended, one, pages, trouble }) {
  if (known > 0) return '';
  if (ended) return 'This server has ended, and the page had not read its log.';
  if (!one.port) return 'This server has no dashboard to read a log from.';
  if (trouble) return '';
  return pages.known ? 'Nothing has been logged yet.' : 'Reading the log …';
}

function text(messages) {
  return messages.map((message) => `${String(message).replace(/\n+$/, '')}\n`).join('');
}

function fileName(label) {
  const plain = label.normalize('NFKD').replace(/[^\w.]+/g, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 80);
  return `serena-${plain || 'log'}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.log`;
}

function save(name, content) {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/plain;charset=utf-8' }));
  const link = h('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
