// The rows of the overview. A row is made once for an instance and keeps its
// place in the page; an update writes only what changed.

import { actionBar } from './actions.js';
import { h, keyed, setAttribute, setText, setTitle } from './dom.js';
import { state as stateWords, unknown } from './format.js';
import { label, setLabel } from './label.js';
import { setMark } from './marks.js';
import { next } from './next.js';
import { router } from './router.js';
import { columns } from './rows.js';
import { setTime, time } from './times.js';

const plain = columns.filter((one) => one.text && one.key !== 'state' && one.key !== 'server');

const around = 8; // rows beyond those in view that are drawn with them
const atLeast = 4; // rows that are drawn each time there is time
// Not every browser tells when it is idle.
const whenIdle = globalThis.requestIdleCallback ?? ((fn) => setTimeout(() => fn({ timeRemaining: () => 0 }), 16));
const nameLength = 48; // characters; beyond, the middle is left out

// tableRows draws instances into its element; chosen is a selection. What is in
// view is drawn at once, the rest when there is time for it. box is the element
// that scrolls.
export function tableRows(chosen, box) {
  const element = h('tbody', { role: 'rowgroup' });
  const made = new WeakMap(); // row → its parts
  let rest = []; // rows that are to be drawn later
  let waiting = 0;

  function make({ id }) {
    const check = h('input', { type: 'checkbox', onclick: (event) => chosen.set(id, check.checked, event.shiftKey) });
    const row = h('tr', { role: 'row', dataset: { id } }, h('td', { role: 'cell', class: 'choose' }, check));
    made.set(row, { id, check, seen: {}, cells: null, wanted: null });
    return row;
  }

  function fill(row, parts, instance) {
    const cells = Object.fromEntries(columns.map((one) => [one.key, h('td', { role: one.key === 'server' ? 'rowheader' : 'cell', class: `cell-${one.key}${one.number ? ' number' : ''}` })]));
    Object.assign(parts, {
      cells,
      mark: h('span', { class: 'mark-holder' }),
      state: h('span', { class: 'cut' }),
      label: label(),
      idle: time(null, { suffix: '' }),
      busy: h('span', null),
      next: h('span', { class: 'cut', dir: 'auto' }),
      at: time(null, { suffix: 'ahead' }),
      because: h('span', { class: 'because cut', dir: 'auto' }),
      actions: actionBar(instance, { compact: true }),
    });
    parts.link = h('a', { class: 'server cut' }, parts.label);
    cells.state.append(h('span', { class: 'state' }, parts.mark, parts.state));
    cells.server.append(parts.link);
    cells.idle.append(parts.idle, parts.busy);
    cells.next.append(h('span', { class: 'next cut' }, parts.next, ' ', parts.at, parts.because));
    for (const key of ['client', 'context']) cells[key].setAttribute('dir', 'auto');
    row.append(...columns.map((one) => cells[one.key]), h('td', { role: 'cell', class: 'cell-actions' }, parts.actions));
  }

  // draw shows what is wanted of a row, and writes only what changed.
  function draw(row) {
    const parts = made.get(row);
    if (!parts?.wanted) return;
    const { instance, ending } = parts.wanted;
    parts.wanted = null;
    if (!parts.cells) fill(row, parts, instance);
    const { cells, seen } = parts;
    const once = (key, value, write) => {
      if (seen[key] === value) return;
      seen[key] = value;
      write(value);
    };
    for (const column of plain) {
      once(column.key, column.text(instance), (text) => {
        setText(cells[column.key], text);
        cells[column.key].classList.toggle('unknown', text === unknown);
      });
      if (column.number) continue;
      const whole = (column.whole ?? column.text)(instance);
      once(`${column.key} whole`, whole === unknown ? '' : whole, (text) => setTitle(cells[column.key], text || null));
    }
    once('mark', instance.state, (value) => { setMark(parts.mark, value); row.dataset.state = value; });
    once('state', stateWords(instance), (text) => setText(parts.state, text));
    once('reason', instance.reason, (text) => setTitle(cells.state, text));
    once('label', instance.label, (text) => {
      setLabel(parts.label, instance, nameLength);
      setAttribute(parts.check, 'aria-label', `Select ${text}`);
    });
    once('about', `${instance.label}\n${instance.project_root ?? ''}`.trim(), (text) => setTitle(parts.link, text));
    once('link', router.link(instance), (address) => setAttribute(parts.link, 'href', address));
    once('busy', Boolean(instance.busy && instance.state !== 'zombie'), (on) => { setText(parts.busy, on ? 'busy' : ''); parts.idle.hidden = on; });
    once('idle', instance.state === 'zombie' ? null : instance.last_activity, (when) => setTime(parts.idle, when));
    const ahead = next(instance, ending);
    once('next', ahead.text, (text) => setText(parts.next, text));
    once('because', ahead.because, (text) => setText(parts.because, text));
    once('ahead', ahead.text + ahead.because, (text) => setTitle(cells.next, text));
    once('kind', ahead.kind, (kind) => { cells.next.dataset.kind = kind; });
    once('at', ahead.at, (when) => { setTime(parts.at, when); parts.at.hidden = !when; });
    parts.actions.update(instance);
  }

  function check(row) {
    const parts = made.get(row);
    const on = chosen.has(parts.id);
    setAttribute(parts.check, 'checked', on);
    row.classList.toggle('chosen', on);
  }

  // inView draws the rows that can be seen, and a few around them.
  function inView() {
    const rows = element.children;
    const height = rows[0]?.offsetHeight || 1;
    const first = Math.max(0, Math.floor(box().scrollTop / height) - around);
    const last = Math.min(rows.length, Math.ceil((box().scrollTop + innerHeight) / height) + around);
    for (let i = first; i < last; i++) draw(rows[i]);
  }

  function later() {
    if (waiting || rest.length === 0) return;
    waiting = whenIdle((idle) => {
      waiting = 0;
      for (let n = 0; rest.length > 0 && (n < atLeast || idle.timeRemaining() > 3); n++) draw(rest.shift());
      later();
    });
  }

  const focusedRow = () => document.activeElement?.closest?.('tr[data-id]');
  const focusRow = (row) => {
    draw(row);
    made.get(row)?.link.focus();
  };

  return {
    element,
    inView,
    draw(instances, state) {
      const focused = focusedRow();
      const at = focused ? [...element.children].indexOf(focused) : -1;
      keyed(element, instances, (one) => one.id, make, (row, instance) => {
        made.get(row).wanted = { instance, ending: state.pending.get(instance.id) ?? '' };
        check(row);
      });
      inView();
      rest = [...element.children].filter((row) => made.get(row).wanted);
      later();
      // Whoever worked on a row that has gone goes on with the one in its place.
      if (at >= 0 && !focused.isConnected) focusRow(element.children[Math.min(at, element.childElementCount - 1)]);
    },
    step(by) {
      const list = [...element.children];
      const at = list.indexOf(focusedRow());
      const to = at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by;
      if (list[to]) focusRow(list[to]);
    },
    toggle() {
      const parts = made.get(focusedRow());
      if (parts) chosen.set(parts.id, !parts.check.checked);
    },
  };
}
