// @ts-check
// The pieces that every view is made of.

import { html, signal, useEffect, useErrorBoundary, useRef, useState, useLayoutEffect } from './preact.js';
import { absolute, ago, duration, middle, moment, sentence, unknown, until } from './format.js';

// stored is a signal whose value lasts: read makes it of what was kept, and throws
// what is no use.
export function stored(name, initial, read = (value) => value) {
  let value = initial;
  try {
    const kept = JSON.parse(localStorage.getItem(name) ?? 'null');
    if (kept !== null) value = read(kept) ?? initial;
  } catch {
    // Nothing kept that can be read.
  }
  const one = signal(value);
  one.subscribe((newer) => {
    try {
      if (newer === initial) localStorage.removeItem(name);
      else localStorage.setItem(name, JSON.stringify(newer));
    } catch {
      // Without storage it lasts as long as the page.
    }
  });
  return one;
}

// now is the time by which texts are drawn, all by one clock that rests while the
// page is hidden.
export const now = signal(Date.now());
if (globalThis.document) {
  const tick = () => { if (!document.hidden) now.value = Date.now(); };
  setInterval(tick, 5_000);
  document.addEventListener('visibilitychange', tick);
}

// Time follows the clock. suffix 'ago' tells "2 min ago", '' only "2 min"; a moment
// ahead reads "in 4 min", and with 'ahead' one that has come "any moment".
export function Time({ at, suffix = 'ago' }) {
  const date = moment(at);
  if (!date) return html`<span class="time">${unknown}</span>`;
  const clock = Math.max(now.value, Date.now());
  const words = Number(date) > clock || suffix === 'ahead' ? until(date, clock) : suffix === 'ago' ? ago(date, clock) : duration((clock - Number(date)) / 1000);
  return html`<time class="time" datetime=${date.toISOString()} title=${absolute(date)}>${words}</time>`;
}

const drawings = {
  open: 'M6.5 3.5h-3v9h9v-3M9 3.5h3.5V7M12.5 3.5l-5 5',
  pin: 'M5.5 2.5h5M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  keep: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM8 5v3.2l2 1.3',
  close: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3l3.2 3.2',
  down: 'M4.5 6.5 8 10l3.5-3.5',
  clients: 'M6 2v3.5M10 2v3.5M4 5.5h8V8a4 4 0 0 1-8 0ZM8 12v2.5',
  workspaces: 'M1.8 4.2h4.4l1.4 1.6h6.6v7.4H1.8ZM5.2 9.5h5.6',
  copy: 'M5.5 5.5h7v7h-7ZM10.5 3.5h-7v7',
  help: 'M5.8 6.1A2.2 2.2 0 1 1 9.2 8C8.4 8.5 8 8.9 8 9.8M8 12.2v.1',
};

// Icon is a drawing on a button, hidden from screen readers: the button has words.
export function Icon({ name }) {
  return html`<svg class="icon-drawing" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d=${drawings[name]} fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" /></svg>`;
}

const live = () => html`<circle cx="8" cy="8" r="6" fill="currentColor" />`;
const ring = (props) => html`<circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="2" ...${props} />`;
const line = (d) => html`<path d=${d} fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" />`;
const warning = () => html`<path d="M8 1.2 15.4 14.4H.6Z" fill="currentColor" stroke="currentColor" stroke-linejoin="round" /><path d="M8 5.6v4.2M8 11.4v1.8" class="mark-cut" stroke-width="1.8" />`;

// The marks, told apart by shape first: those of states, of an event that leads to
// none, and of entries in the settings of clients.
const marks = {
  live_with_project: live, live, zombie: warning,
  live_no_project: () => ring({ 'stroke-width': 2.5 }),
  starting: () => ring({ r: 5.2, 'stroke-dasharray': '3.4 2.05' }),
  parked: () => html`<path d="M13.6 10.4A6 6 0 1 1 7 2.2a5 5 0 0 0 6.6 8.2Z" fill="currentColor" />`,
  ended: () => [ring({ 'stroke-width': 1.6 }), line('M2.4 13.6 13.6 2.4')],
  dot: () => html`<circle cx="8" cy="8" r="2.5" fill="currentColor" />`,
  shared: live, gone: warning, direct: ring,
  plain: () => ring({ r: 3.5, 'stroke-width': 1.6 }),
  other: () => ring({ 'stroke-dasharray': '3.2 2.04' }),
  alone: () => [ring({}), html`<circle cx="8" cy="8" r="2" fill="currentColor" />`],
  remote: () => line('M2.5 8h11M10 4.5 13.5 8 10 11.5'),
  odd: () => line('M5.6 5.6A2.5 2.5 0 1 1 9.3 8C8.4 8.5 8 9 8 10M8 12.8v.1'),
};

// Mark is one, 16 px. Words stand beside it, so it is hidden from screen readers.
export function Mark({ kind }) {
  const known = Object.hasOwn(marks, kind) ? kind : 'starting';
  return html`<svg class=${`mark mark-${known}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${marks[known]({})}</svg>`;
}

// nameOf is the part of a label after the pid.
export function nameOf(instance) {
  const cut = instance.label.indexOf(' - ');
  return cut < 0 ? instance.label : instance.label.slice(cut + 3);
}

// Label is that of an instance, such as "4711 - alpha", with the name shortened to
// at most so many characters: it may be written from right to left, the pid before
// it never is.
export function Label({ instance, most = Infinity }) {
  const name = nameOf(instance);
  const short = Number.isFinite(most) ? middle(name, most) : name;
  return html`<span class="label"><span>${instance.label.slice(0, instance.label.length - name.length)}</span><bdi title=${short === name ? undefined : name}>${short}</bdi></span>`;
}

export const Unseen = ({ children }) => html`<span class="unseen" dir="auto">${children}</span>`;

export const Skeleton = ({ lines }) => html`<div class="skeleton" aria-hidden="true">${Array.from({ length: lines }, () => html`<div class="skeleton-line"></div>`)}</div>`;

// Guard keeps what cannot be drawn from taking the rest with it, until of is another
// value; the browser's console has the reason.
export function Guard({ of, children }) {
  const [error, again] = useErrorBoundary((found) => reportError(found));
  useEffect(() => { if (error) again(); }, [of]);
  return error ? html`<p class="section-empty muted" role="alert">This part cannot be drawn from what the server answered.</p>` : children;
}

// Section is the frame of a part of the page. With answer, an Answer of query.js,
// children is a function of its value, and the frame says how old that is or why
// there is none.
export function Section({ title, kind = '', tools = null, lines = 2, answer, found, version = '', children }) {
  const id = `section-${title.toLowerCase().replaceAll(' ', '-')}`;
  const { body, note } = filled({ answer, found, version, children });
  return html`<section class=${`card section ${kind}`} aria-labelledby=${id} data-old=${note ? '' : undefined} aria-busy=${body === null ? 'true' : undefined}>
    <div class="line section-head"><h2 id=${id}>${title}</h2><p class="section-note">${note}</p>${tools}</div>
    <div class="section-body"><${Guard} of=${answer?.value}>${body ?? html`<${Skeleton} lines=${lines} />`}<//></div></section>`;
}

function filled({ answer, found, version, children }) {
  if (!answer) return { body: children, note: null };
  const { value, at, trouble } = answer;
  if (value !== undefined) {
    const why = found.ended ? '' : trouble ? trouble.short : found.silent ? 'it does not answer' : '';
    return { body: html`<${Filled} value=${value} make=${children} />`, note: why ? html`as of <${Time} at=${at} />: ${why}` : null };
  }
  const empty = (text) => ({ body: html`<p class="section-empty muted">${text}</p>`, note: null });
  if (found.ended) return empty('It was not read before the server ended.');
  if (trouble?.absent) return empty(`Not offered by ${version}.`);
  if (trouble) return empty(found.silent ? unknown : trouble.text); // the header says why, once
  return { body: null, note: null };
}

// Filled makes its content as a component, so that Guard takes what fails in it.
const Filled = ({ value, make }) => make(value);

const open = stored('lamplighter-open', ['memory-of-all', 'projects', 'active-tools'], (list) => (Array.isArray(list) ? list : null));

export const isOpen = (name) => open.value.includes(name);

// Fold is a section that is closed until somebody opens it; which are open is kept.
// count stands beside its title.
export function Fold({ title, name, count = '', hidden = false, answer, found, version = '', children }) {
  const { body, note } = filled({ answer, found, version, children });
  const toggled = (event) => {
    const is = event.currentTarget.open;
    if (is !== isOpen(name)) open.value = is ? [...open.value, name] : open.value.filter((other) => other !== name);
  };
  return html`<details class="card fold" open=${isOpen(name)} onToggle=${toggled} hidden=${hidden} data-old=${note ? '' : undefined}>
    <summary><h2>${title}</h2><span class="fold-count">${count}</span></summary>
    ${note && html`<p class="section-note">${note}</p>`}
    <div class="section-body">${isOpen(name) && html`<${Guard} of=${answer?.value}>${body}<//>`}</div></details>`;
}

// useNear tells whether a node is in the part of the page that is seen, or close to it.
const watched = new WeakMap(); // node → what is told
let watcher = /** @type {IntersectionObserver | null} */ (null);

export function useNear(node, first = false) {
  const [near, setNear] = useState(first);
  useEffect(() => {
    watcher ??= new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => watched.get(target)?.(isIntersecting)), { root: document.getElementById('panel'), rootMargin: '600px' });
    const one = node.current;
    watched.set(one, setNear);
    watcher.observe(one);
    return () => watcher?.unobserve(one);
  }, []);
  return near;
}

const notices = signal(/** @type {any[]} */ ([]));
const spoken = signal('');
const readingTime = 5_000; // ms; a bad one stays until it is dismissed
let serial = 0; // of notices and questions

// say shows a sentence, and announces it. The result is the note: tell changes its
// words, and whether its action is still offered; remove takes it away. With stays
// only that does. action is {words, run} of a button.
export function say(text, { kind = 'plain', stays = kind === 'bad', action = null } = {}) {
  const id = ++serial;
  const change = (fields) => { notices.value = notices.value.map((one) => (one.id === id ? { ...one, ...fields } : one)); };
  notices.value = [...notices.value, { id, text, kind, stays, action }];
  return { remove: () => remove(id), tell: (newer, offered = true) => change(offered ? { text: newer } : { text: newer, action: null }) };
}

const remove = (id) => { notices.value = notices.value.filter((one) => one.id !== id); };

export function Notices() {
  return html`<div id="notices" role="status" aria-live="polite">${notices.value.map((one) => html`<${Notice} key=${one.id} ...${one} />`)}</div>`;
}

// Notice goes after a while, but not from under the pointer or the focus.
function Notice({ id, text, kind, stays, action }) {
  const held = useRef(false);
  useEffect(() => {
    if (stays) return undefined;
    let timer = setTimeout(function leave() {
      if (held.current) timer = setTimeout(leave, readingTime);
      else remove(id);
    }, readingTime);
    return () => clearTimeout(timer);
  }, [id, stays]);
  const hold = () => { held.current = true; };
  const go = () => { held.current = false; };
  return html`<div class=${`notice notice-${kind}`} onPointerEnter=${hold} onPointerLeave=${go} onFocusIn=${hold} onFocusOut=${go}>
    <p class="notice-text" dir="auto">${text}</p>
    ${action && html`<button type="button" class="small" onClick=${action.run}>${action.words}</button>`}
    <button type="button" class="quiet small" aria-label="Dismiss" title="Dismiss" onClick=${() => remove(id)}>×</button></div>`;
}

// attempt does something and says what went wrong, after the words in which that ends;
// the result tells whether it was done.
export async function attempt(run, words = '') {
  try {
    await run();
    return true;
  } catch (error) {
    say(`${words} ${sentence(error.message)}`.trim(), { kind: 'bad' });
    return false;
  }
}

let waiting = /** @type {string[]} */ ([]);

// announce tells screen readers alone. What comes at once is told together.
export function announce(text) {
  if (waiting.includes(text)) return;
  if (waiting.push(text) > 1) return;
  setTimeout(() => {
    spoken.value = (waiting.length > 3 ? [...waiting.slice(0, 3), `and ${waiting.length - 3} more`] : waiting).join('. ');
    waiting = [];
  }, 600);
}

export const Announcer = () => html`<div class="unseen" role="status" aria-live="polite">${spoken.value}</div>`;

// copy puts a text into the clipboard, and says so.
export async function copy(text, done = 'Copied.') {
  try {
    await navigator.clipboard.writeText(text);
    say(done, { kind: 'good' });
  } catch {
    say('The browser did not allow to copy. Select the text instead.', { kind: 'bad' });
  }
}

// Questions. The focus goes back to where it was; Esc means no.

const dialogs = signal(/** @type {any[]} */ ([])); // dialogs, the innermost last

// modal shows a dialog. body(close) makes what is below its title; the promise is
// what close was given, or otherwise dismissed. An element with autofocus has the
// focus first.
export function modal({ title, kind = '', dismissed = null, body }) {
  return new Promise((resolve) => {
    const one = { id: ++serial, title, kind, body, result: dismissed, before: document.activeElement, resolve };
    dialogs.value = [...dialogs.value, one];
  });
}

export function Dialogs() {
  return dialogs.value.map((one) => html`<${Dialog} key=${one.id} one=${one} />`);
}

function Dialog({ one }) {
  const node = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const outside = useRef(false); // only a press that began outside is meant for the outside
  useLayoutEffect(() => node.current?.showModal(), []);
  const close = (value) => {
    one.result = value;
    node.current?.close();
  };
  const closed = () => {
    dialogs.value = dialogs.value.filter((other) => other !== one);
    const has = document.activeElement; // by now the user may have put the focus elsewhere
    if (!has || has === document.body || node.current?.contains(has)) (one.before?.isConnected ? one.before : document.getElementById('main'))?.focus({ preventScroll: true });
    one.resolve(one.result);
  };
  const beyond = (event) => {
    const box = node.current?.getBoundingClientRect();
    return event.target === node.current && box && (event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom);
  };
  return html`<dialog ref=${node} class=${`dialog ${one.kind}`} aria-labelledby=${`dialog-${one.id}`} onClose=${closed}
    onPointerDown=${(event) => { outside.current = beyond(event); }} onClick=${(event) => { if (outside.current && beyond(event)) close(one.result); }}>
    <h2 id=${`dialog-${one.id}`} class="dialog-title" dir="auto">${one.title}</h2>
    ${one.body(close)}
  </dialog>`;
}

const Body = ({ children }) => html`<div class="dialog-body">${typeof children === 'string' ? html`<p dir="auto">${children}</p>` : children}</div>`;

// confirm asks. On a danger the focus begins on Cancel, so Enter alone does nothing.
export function confirm({ title, body, action, danger = false, cancel = 'Cancel', kind = '' }) {
  return modal({
    title, kind: danger ? 'dialog-danger' : kind, dismissed: false,
    body: (close) => html`<${Body}>${body}<//><div class="dialog-actions">
      <button type="button" autofocus=${danger} onClick=${() => close(false)}>${cancel}</button>
      <button type="button" autofocus=${!danger} class=${danger ? 'danger' : 'primary'} onClick=${() => close(true)}>${action}</button></div>`,
  });
}

// tell shows something that needs no answer.
export function tell({ title, body, kind = '' }) {
  return modal({ title, kind, body: (close) => html`<${Body}>${body}<//><div class="dialog-actions"><button type="button" autofocus onClick=${() => close(null)}>Close</button></div>` });
}

// prompt asks for one line of text; null is no answer. check says what is wrong
// with a text, '' for nothing; the dialog stays until nothing is.
export function prompt({ title, label, value = '', action = 'OK', check = (text) => '' }) {
  return modal({ title, body: (close) => html`<${Prompt} ...${{ label, value, action, check, close }} />` });
}

function Prompt({ label, value, action, check, close }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [wrong, setWrong] = useState('');
  useLayoutEffect(() => field.current?.select(), []);
  const answer = (event) => {
    event.preventDefault();
    const text = field.current?.value ?? '';
    const found = check(text);
    setWrong(found);
    if (found) field.current?.focus();
    else close(text);
  };
  return html`<form onSubmit=${answer}>
    <label class="dialog-body"><span class="muted">${label}</span>
      <input ref=${field} type="text" class="wide" defaultValue=${value} autofocus aria-label=${label} aria-invalid=${wrong ? 'true' : undefined} autocomplete="off" spellcheck=${false} dir="auto" />
      <p class="dialog-wrong" role="alert">${wrong}</p></label>
    <div class="dialog-actions"><button type="button" onClick=${() => close(null)}>Cancel</button><button type="submit" class="primary">${action}</button></div>
  </form>`;
}
