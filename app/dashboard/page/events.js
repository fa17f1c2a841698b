// What happened to an instance, or to all of them, in the last day.

import { about, days, detail, grave, key, markOf, merge, nameOfDay, outline, words } from './eventlist.js';
import { count } from './format.js';
import { get } from './http.js';
import { h, keyed, setText, svg } from './dom.js';
import { mark } from './marks.js';
import { router } from './router.js';
import { store } from './store.js';
import { time } from './times.js';

const back = 24 * 3_600_000; // ms
const gap = 2_000; // ms between two questions
const patience = 15_000; // ms after which to ask anyway: a refused stop changes no snapshot
const overlap = 2_000; // ms asked for again, because events may be written a little later
const shownAtFirst = 200;

// eventsView shows the events of one instance; with all, those of every one,
// and show and update need no argument.
export function eventsView({ all = false } = {}) {
  return new EventsView(all);
}

class EventsView {
  #all;
  #found = null;
  #events = []; // of all instances, newest last
  #read = false;
  #most = shownAtFirst;
  #outline = '';
  #asked = -Infinity;
  #timer = 0;
  #request = null;
  #unsubscribe = () => {};

  #trouble = h('p', { class: 'events-trouble', role: 'status', hidden: true });
  #empty = h('p', { class: 'events-empty muted' });
  #days = h('div', { class: 'events-days' });
  #more = h('button', { type: 'button', class: 'small', hidden: true, onclick: () => this.#showMore() });
  #visibility = () => (document.hidden ? this.#rest() : this.#ask());

  constructor(all) {
    this.#all = all;
    this.element = h('section', { class: `events${all ? ' events-all' : ''}`, 'aria-label': 'Events' },
      all ? null : h('h2', { class: 'unseen' }, 'Events'), this.#trouble, this.#days, this.#empty, this.#more);
  }

  show(found = null) {
    this.#found = found;
    this.#most = shownAtFirst;
    this.#outline = outline(store.state.instances, store.state.ended);
    document.addEventListener('visibilitychange', this.#visibility);
    this.#unsubscribe();
    this.#unsubscribe = store.subscribe((state) => this.#changed(state));
    this.#draw();
    this.#ask();
  }

  update(found = null) {
    const before = this.#found?.instance.id;
    this.#found = found;
    if (before !== found?.instance.id) this.#draw();
  }

  hide() {
    document.removeEventListener('visibilitychange', this.#visibility);
    this.#unsubscribe();
    this.#rest();
  }

  #rest() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#request?.abort();
    this.#request = null;
  }

  #changed(state) {
    const now = outline(state.instances, state.ended);
    if (now === this.#outline) return;
    this.#outline = now;
    this.#later(gap);
  }

  // #later asks when so much time has passed since the last time.
  #later(wait) {
    if (document.hidden || this.#request) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), Math.max(this.#asked + wait - performance.now(), 0));
  }

  async #ask() {
    if (document.hidden) return;
    this.#rest();
    this.#asked = performance.now();
    const request = (this.#request = new AbortController());
    const outlined = this.#outline;
    try {
      const answer = await get(`events?since=${encodeURIComponent(this.#since())}`, { signal: request.signal });
      if (request.signal.aborted) return;
      if (!Array.isArray(answer?.events)) throw new Error('lamplighter answered with something else than events');
      this.#events = merge(this.#events, answer.events, Date.now() - back);
      this.#read = true;
      this.#trouble.hidden = true;
    } catch (error) {
      if (request.signal.aborted) return;
      setText(this.#trouble, `The events cannot be read: ${error.message}`);
      this.#trouble.hidden = false;
    }
    this.#request = null;
    this.#draw();
    this.#later(outlined === this.#outline ? patience : gap);
  }

  // #since goes on from the newest event; at first it is a day back.
  #since() {
    const newest = this.#events.at(-1);
    return newest ? new Date(Date.parse(newest.at) - overlap).toISOString() : '24h';
  }

  #showMore() {
    this.#most += shownAtFirst;
    this.#draw();
  }

  #draw() {
    const id = this.#found?.instance.id;
    const list = this.#all ? this.#events : this.#events.filter((event) => about(event, id));
    const shown = list.slice(-this.#most);
    keyed(this.#days, days(shown), (group) => group.day, makeDay, (node, group) => updateDay(node, group, this.#all));
    const empty = this.#read ? emptyWords(this.#all) : this.#trouble.hidden ? 'Reading the events …' : '';
    this.#empty.hidden = list.length > 0 || !empty;
    setText(this.#empty, empty);
    this.#more.hidden = shown.length === list.length;
    setText(this.#more, `Show earlier ones (${count(list.length - shown.length)})`);
  }
}

function emptyWords(all) {
  return all ? 'Nothing has happened in the last 24 hours.' : 'Nothing has happened to this server in the last 24 hours.';
}

function makeDay(group) {
  return h('section', { class: 'events-day' }, h('h3', { dataset: { day: group.day } }), h('ol', { class: 'events-list' }));
}

function updateDay(node, group, all) {
  const [title, list] = node.children;
  setText(title, nameOfDay(group.day, new Date()));
  keyed(list, group.events, key, (event) => makeEvent(event, all));
}

function makeEvent(event, all) {
  const kind = markOf(event.kind);
  return h('li', { class: `event${grave(event.kind) ? ' event-grave' : ''}` },
    h('span', { class: 'event-mark' }, kind === 'dot' ? dot() : kind === 'ended' ? mark('', { ended: true }) : mark(kind)),
    h('span', { class: 'event-time' }, time(event.at)),
    h('span', { class: 'event-word' }, words(event.kind)),
    all && server(event),
    h('span', { class: 'event-detail', dir: 'auto' }, detail(event)));
}

// server leads to the server that an event is about; none is what happened to the
// policies as a whole.
function server(event) {
  if (!event.pid && !event.label) return h('span', { class: 'event-label' });
  return h('a', { class: 'event-label cut', href: address(event), title: event.label, dir: 'auto' }, event.label || `pid ${event.pid}`);
}

function address(event) {
  return router.link({ pid: null, id: event.id || String(event.pid) }, 'events');
}

function dot() {
  return svg('svg', { class: 'mark mark-starting', viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' },
    svg('circle', { cx: 8, cy: 8, r: 2.5, fill: 'currentColor' }));
}
