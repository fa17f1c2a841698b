// @ts-check
// The log of an instance, live.

import { html, signal, useEffect, useLayoutEffect, useMemo, useRef, useState } from './preact.js';
import { nameOfDay } from './events.js';
import { count, plural } from './format.js';
import { useKey } from './keys.js';
import { Pages, countLines, finder, foundWords, mostHits, parse, pieces, rank, split, step, weight } from './loglines.js';
import { asked, ordered, useQuery } from './query.js';
import { attempt, copy, stored } from './ui.js';

const every = 2_000; // ms between two looks
const orderMost = 60_000; // ms for what a person ordered; a log may be long
const mostLines = 10_000; // that are in the page at once
const perChunk = 100; // rows; a chunk that is out of sight costs no layout
const sessionsMost = 6; // instances whose log is kept while another one is shown
const nearly = 8; // px from the end that still count as the end

const levels = [['DEBUG', 'All levels'], ['INFO', 'Info and above'], ['WARNING', 'Warnings and errors'], ['ERROR', 'Errors only']];
const level = stored('lamplighter-log-level', 'DEBUG', (word) => (levels.some(([one]) => one === word) ? word : null));
const wraps = stored('lamplighter-log-wrap', true, Boolean);

// Session is what is held of one instance's log. version changes with it.
class Session {
  version = signal(0);
  pages = new Pages();
  records = /** @type {any[]} */ ([]); // oldest first
  lines = 0;
  full = false; // the oldest messages had to go
  cleared = false; // what is older is of before

  // take takes the answer to pages.ask(); it returns whether to ask again at once.
  take(answer, most) {
    const { messages, cleared, lost, again } = this.pages.take(answer);
    this.cleared ||= cleared;
    if (cleared) this.#add([note('The log was cleared here.')]);
    if (lost > 0) this.#add([note(`${count(lost)} messages were dropped by the server before they could be read.`)]);
    this.#add(leveled(messages, this.records.at(-1)?.effective));
    let old = 0;
    while (this.lines > most && old < this.records.length - 1) this.lines -= this.records[old++].weight;
    if (old > 0) this.full = Boolean(this.records.splice(0, old));
    this.version.value++;
    return again;
  }

  takeEarlier(start, answer) {
    const first = this.records[0]?.serial ?? 0;
    const earlier = leveled(this.pages.takeEarlier(start, answer), 'INFO');
    earlier.forEach((one, i) => { one.serial = first - earlier.length + i; });
    this.records = [...earlier, ...this.records];
    for (const one of earlier) this.lines += one.weight;
    this.version.value++;
  }

  #add(list) {
    for (const one of list) {
      one.serial = (this.records.at(-1)?.serial ?? -1) + 1;
      this.records.push(one);
      this.lines += one.weight;
    }
  }
}

const note = (text) => ({ isNote: true, text, raw: '', from: '', day: '', effective: null, weight: 1 });

// leveled parses messages; what has no level belongs to what was before it.
function leveled(messages, before) {
  let effective = before ?? 'INFO';
  return messages.map((raw) => {
    const message = parse(raw);
    effective = message.level ?? effective;
    return { ...message, isNote: false, effective, weight: weight(message.text), cut: split(message.text), serial: 0 };
  });
}

const sessions = new Map(); // by id, the latest shown last

function sessionOf(id) {
  const session = sessions.get(id) ?? new Session();
  sessions.delete(id);
  sessions.set(id, session);
  for (const old of sessions.keys()) if (sessions.size > sessionsMost) sessions.delete(old);
  return session;
}

export function Logs({ found }) {
  const { instance, ended } = found;
  const session = useMemo(() => sessionOf(instance.id), [instance.id]);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [query, setQuery] = useState('');
  const [current, setCurrent] = useState(/** @type {any} */ (null)); // the hit that one went to
  const [loading, setLoading] = useState(false);
  const version = session.version.value;
  const follow = useFollow(box, version);
  const readable = !ended && Boolean(instance.port);
  const trouble = useLog(session, instance.id, readable, follow);

  const held = useMemo(() => {
    const known = session.records.filter((one) => !one.isNote).length;
    const rows = session.records.filter((one) => one.isNote || rank(one.effective) >= Math.max(rank(level.value), 0));
    const found = search(rows, query);
    return { known, rows, shown: rows.filter((one) => !one.isNote).length, hits: found, of: Map.groupBy(found, (hit) => hit.record) };
  }, [session, version, level.value, query]);
  const { known, rows, shown, hits } = held;
  const at = hits.findIndex((hit) => hit.record === current?.record && hit.part === current.part && hit.number === current.number);
  const goTo = (hit) => {
    setCurrent(hit);
    follow.end();
    requestAnimationFrame(() => box.current?.querySelector('.log-current')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }));
  };
  const go = (by) => { if (hits.length > 0) goTo(hits[step(at, by, hits.length)]); };
  useEffect(() => { if (query && hits.length > 0) goTo(hits.at(-1)); else setCurrent(null); }, [query]);
  useKey('/', 'This view', 'search the log', () => field.current?.select());
  useKey('n', 'This view', 'next match in the log', () => go(1));
  useKey('N', 'This view', 'previous match in the log', () => go(-1));
  useKey('f', 'This view', 'follow the log, or let go of its end', follow.toggle);

  const loadEarlier = async () => {
    setLoading(true);
    await attempt(async () => {
      const start = session.pages.askEarlier();
      const answer = await read(instance.id, start);
      follow.keepPlace();
      session.takeEarlier(start, answer);
    }, 'Earlier messages were not loaded.');
    setLoading(false);
  };
  const copyAll = () => {
    const selection = getSelection();
    const chosen = selection && !selection.isCollapsed && box.current?.contains(selection.anchorNode) ? rows.filter((one) => selection.containsNode(/** @type {Node} */ (document.getElementById(`log-${one.serial}`)), true)) : rows;
    const list = chosen.filter((one) => !one.isNote);
    if (list.length > 0) copy(text(list.map((one) => one.raw)), `Copied ${plural(list.length, 'message', 'messages')}.`);
  };
  // download saves everything that the instance keeps, as it wrote it; of one that
  // has ended, what the page had read.
  const download = () => attempt(async () => {
    const messages = readable ? (await read(instance.id, 0)).messages : session.records.filter((one) => !one.isNote).map((one) => one.raw);
    save(fileName(instance.label), text(messages));
  }, 'The log was not saved.');
  const searching = (event) => {
    if (event.isComposing || (event.key !== 'Enter' && !(event.key === 'Escape' && query))) return;
    event.preventDefault();
    if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
    else setQuery('');
  };

  const { pages, full, cleared } = session;
  const room = !full && !cleared && session.lines < mostLines;
  const more = pages.known && !pages.whole && !ended && room;
  const earlier = more && html`<button type="button" class="small" disabled=${loading} onClick=${loadEarlier}>Load earlier</button>`;
  const wrong = ended ? (known > 0 ? 'This server has ended. These are the messages that the page had read.' : '') : trouble && instance.port ? `The log cannot be read: ${trouble.replace(/\.$/, '')}. Trying again.` : '';
  return html`<section class="logs" aria-label="Logs"><h2 class="unseen">Logs</h2>
    <div class="line" role="group" aria-label="Log controls">
      <select aria-label="Level" title="Which messages are shown" value=${level.value} onChange=${(event) => { level.value = event.currentTarget.value; }}>${levels.map(([word, words]) => html`<option value=${word}>${words}</option>`)}</select>
      <span class="log-searching"><input ref=${field} type="search" placeholder="Search" aria-label="Search the log" title="Search the log (/)" aria-keyshortcuts="/" autocomplete="off" spellcheck=${false} value=${query} onInput=${(event) => setQuery(event.currentTarget.value)} onKeyDown=${searching} />
        <span class="log-found muted" role="status">${foundWords(query, at, hits.length)}</span>
        <button type="button" class="icon" aria-label="Previous match (Shift+Enter)" title="Previous match (Shift+Enter)" disabled=${hits.length === 0} onClick=${() => go(-1)}>↑</button>
        <button type="button" class="icon" aria-label="Next match (Enter)" title="Next match (Enter)" disabled=${hits.length === 0} onClick=${() => go(1)}>↓</button></span>
      <span class="muted">${shown === known ? plural(known, 'message', 'messages') : `${count(shown)} of ${plural(known, 'message', 'messages')}`}</span>
      <span class="line log-actions">
        <button type="button" title="Stay at the newest message (f)" aria-pressed=${String(follow.on)} onClick=${follow.toggle}>Follow</button>
        <button type="button" title="Break long lines" aria-pressed=${String(wraps.value)} onClick=${() => { wraps.value = !wraps.value; }}>Wrap</button>
        <button type="button" title="Copy the selected messages, or all that are shown" onClick=${copyAll}>Copy</button>
        <button type="button" title="Save the whole log as a text file" onClick=${download}>Download</button></span></div>
    ${wrong && html`<p class=${ended ? 'trouble log-ended' : 'trouble'} role="status">${wrong}</p>`}
    <div class="log-frame"><div ref=${box} class=${`log-list ${wraps.value ? '' : 'log-nowrap'} ${follow.on ? 'log-following' : ''}`} role="log" aria-live="off" aria-label="Log messages" tabindex="0" ...${follow.handlers}>
        <div class="log-top muted">${known > 0 && (earlier || above({ room, cleared, ended, pages }))}</div>
        <div class="log-rows">${chunks(rows).map(({ key, list, day }) => html`<${Chunk} key=${key} list=${list} day=${day} of=${held.of} query=${query} current=${list.includes(current?.record) ? current : null} />`)}</div>
        ${rows.length === 0 && html`<p class="log-empty muted">${emptyWords({ ended, instance, pages, trouble, known })}</p>`}</div>
      ${follow.below > 0 && html`<button type="button" class="log-below primary" onClick=${() => { follow.begin(); box.current?.focus({ preventScroll: true }); }}>${plural(follow.below, 'new message', 'new messages')} below</button>`}</div></section>`;
}

const read = (id, start) => ordered(id, (one) => one.post('get_log_messages', { start_idx: start }, { limit: orderMost }));

// useLog asks for what is new while the log can be read, and returns why it cannot be.
function useLog(session, id, on, follow) {
  const following = useRef(follow);
  following.current = follow;
  const ask = async (signal) => {
    let again = true;
    while (again) {
      const answer = await asked(id, signal, (one) => one.post('get_log_messages', { start_idx: session.pages.ask() }, { signal }));
      signal.throwIfAborted();
      const before = session.records.at(-1)?.serial ?? 0;
      again = session.take(answer, following.current.on ? mostLines : 2 * mostLines);
      following.current.grew((session.records.at(-1)?.serial ?? 0) - before);
    }
  };
  return useQuery(`log ${id}`, ask, { on, every }).trouble?.text ?? '';
}

// useFollow stays at the end of the log, until the reader scrolls up. While somebody
// selects, nothing moves under the pointer.
function useFollow(box, version) {
  const [on, setOn] = useState(true);
  const [below, setBelow] = useState(0);
  const here = useRef({ top: 0, pressed: false, fromEnd: /** @type {number | null} */ (null) });
  const at = here.current;
  const selecting = () => {
    const selection = getSelection();
    return at.pressed || Boolean(selection && !selection.isCollapsed && box.current?.contains(selection.anchorNode));
  };
  const atEnd = () => box.current.scrollHeight - box.current.scrollTop - box.current.clientHeight <= nearly;
  const begin = () => {
    getSelection()?.removeAllRanges();
    at.top = 0;
    setBelow(0);
    setOn(true);
  };
  const end = () => setOn(false);
  const toEnd = () => {
    if (!box.current) return;
    if (at.fromEnd !== null) box.current.scrollTop = box.current.scrollHeight - at.fromEnd;
    else if (on && !selecting()) box.current.scrollTop = box.current.scrollHeight;
    at.fromEnd = null;
    at.top = box.current.scrollTop;
  };
  useLayoutEffect(toEnd, [version, on]);
  useEffect(() => { // what comes into view gets its real height only then
    const observer = new ResizeObserver(toEnd);
    observer.observe(box.current);
    observer.observe(box.current.querySelector('.log-rows'));
    const released = () => { at.pressed = false; };
    addEventListener('pointerup', released);
    return () => {
      observer.disconnect();
      removeEventListener('pointerup', released);
    };
  }, [on]);
  // While following, the browser does not anchor what is in view: what moves the box
  // upwards is the reader, or a log that became shorter, which leaves it at the end.
  const scrolled = () => {
    if (!box.current) return;
    if (atEnd()) {
      setOn(true);
      setBelow(0);
    } else if (box.current.scrollTop < at.top - 1) end();
    at.top = box.current.scrollTop;
  };
  return {
    on, below, begin, end,
    toggle: () => (on ? end() : begin()),
    grew: (n) => { if (!on || selecting()) setBelow((before) => before + n); },
    keepPlace: () => { at.fromEnd = box.current.scrollHeight - box.current.scrollTop; end(); },
    handlers: { onScroll: scrolled, onPointerDown: () => { at.pressed = true; } },
  };
}

// search lists the hits, {record, part, number, range}, in the order of the rows. It goes
// back from the newest: of too many hits, those are listed.
function search(rows, query) {
  if (!query) return [];
  const find = finder(query);
  const found = [];
  let room = mostHits;
  for (const record of rows.toReversed()) {
    if (record.isNote) continue;
    const all = ['from', 'text'].flatMap((part) => find(record[part]).map((range, number) => ({ record, part, number, range }))).slice(0, room);
    room -= all.length;
    found.push(all);
    if (room <= 0) break;
  }
  return found.reverse().flat();
}

// chunks parts rows by their numbers, so that one that has not changed stays as it is,
// and tells of each the day of the row before it.
function chunks(rows) {
  const list = [];
  let day = '';
  for (const row of rows) {
    const key = Math.floor(row.serial / perChunk);
    if (list.at(-1)?.key !== key) list.push({ key, list: [], day });
    list.at(-1).list.push(row);
    day = row.day || day;
  }
  return list;
}

// Chunk is drawn anew only when something in it is different.
function Chunk({ list, day, of, query, current }) {
  return useMemo(() => {
    let before = day;
    return html`<div class="log-chunk" style=${{ '--rows': list.length }}>${list.map((one) => {
      const begins = one.day && one.day !== before ? one.day : '';
      before = one.day || before;
      return html`<${Row} key=${one.serial} one=${one} begins=${begins} hits=${of.get(one)} current=${current?.record === one ? current : null} />`;
    })}</div>`;
  }, [list.length, list[0].serial, day, query, current, query && of]);
}

function Row({ one, begins, hits = [], current }) {
  const [unfolded, setUnfolded] = useState(false);
  if (one.isNote) return html`<div id=${`log-${one.serial}`} class="log-row log-note">${one.text}</div>`;
  const inRest = current?.part === 'text' && current.range[1] > one.cut.shown.length;
  const { shown, rest } = unfolded || inRest ? { shown: one.text, rest: '' } : one.cut;
  const marked = (part, text) => pieces(text, hits.filter((hit) => hit.part === part).map((hit) => hit.range)).map((piece) => (piece.hit < 0 ? piece.text
    : html`<mark class=${current?.part === part && current.number === piece.hit ? 'log-current' : ''}>${piece.text}</mark>`));
  const hidden = hits.filter((hit) => hit.part === 'text' && hit.range[1] > one.cut.shown.length).length;
  const n = countLines(rest);
  return html`<div id=${`log-${one.serial}`} class=${`log-row log-${one.effective.toLowerCase()}`} data-day=${begins ? nameOfDay(begins, new Date()) : undefined}>
    ${one.clock && html`<span class="log-clock" title=${`${one.day} ${one.clock}.${one.millis}`}>${one.clock}<span class="log-millis">.${one.millis}</span></span> <span class="log-level">${one.level}</span> <span class="log-from" title=${[one.thread && `[${one.thread}]`, one.source].filter(Boolean).join(' ')}>${marked('from', one.from)}</span> `}
    <span class="log-text" dir="auto">${marked('text', shown)}${rest && html`<button type="button" class="log-unfold quiet small" onClick=${() => setUnfolded(true)}>Show ${n > 1 ? `${count(n)} more lines` : `${count(rest.length)} more characters`}${hidden > 0 && `, ${count(hidden)} found`}</button>`}</span></div>`;
}

function above({ room, cleared, ended, pages }) {
  if (!room) return cleared ? '' : `The page keeps the newest ${count(mostLines)} lines.`;
  if (!pages.whole || ended) return '';
  return pages.first === 0 ? 'The log begins here.' : 'The server keeps nothing older.';
}

function emptyWords({ ended, instance, pages, trouble, known }) {
  if (known > 0) return 'No message that was read is of this level.';
  if (ended) return 'This server has ended, and the page had not read its log.';
  if (!instance.port) return 'This server has no dashboard to read a log from.';
  if (trouble) return '';
  return pages.known ? 'Nothing has been logged yet.' : 'Reading the log …';
}

const text = (messages) => messages.map((message) => `${String(message).replace(/\n+$/, '')}\n`).join('');

function fileName(label) {
  const plain = label.normalize('NFKD').replace(/[^\w.]+/g, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 80);
  return `serena-${plain || 'log'}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.log`;
}

function save(name, content) {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/plain;charset=utf-8' }));
  const link = document.createElement('a');
  Object.assign(link, { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
