// The overview: a table of all instances, with what can be done to them.

import { stop } from './actions.js';
import { arrange } from './arrange.js';
import { h, replace, setAttribute, setText, setTitle } from './dom.js';
import { emptyState } from './empty.js';
import { eventsView } from './events.js';
import { filter } from './filter.js';
import { absolute, bytes, count, percent, plural, totals } from './format.js';
import { bind } from './keys.js';
import { policyPanel } from './policypanel.js';
import { columns, matches, sorted, words } from './rows.js';
import { folded } from './section.js';
import { saves } from './sharing.js';
import { tableHead } from './sorting.js';
import { tableRows } from './tablerows.js';
import { selection } from './selection.js';
import { welcome } from './welcome.js';

// overview returns {element, show(state), hide()}; it is drawn only between
// show and hide.
export function overview() {
  let state = null; // of the store, while shown
  let order = []; // of all rows, filtered or not
  let held = false; // the pointer is over the rows
  let listed = []; // the ids that are shown, in order
  let top = 0; // how far down it was, which a hidden box forgets

  const chosen = selection(() => listed, draw);
  const head = tableHead(() => { order = []; draw(); }, chosen.all);
  const rows = tableRows(chosen, () => box);
  const foot = totalsRow();
  const table = h('table', { class: 'servers', role: 'table', 'aria-label': 'Servers' },
    h('colgroup', null, h('col', { class: 'col-choose' }), columns.map((one) => h('col', { class: `col-${one.key}` })), h('col', { class: 'col-actions' })),
    head.element, rows.element, foot.element);
  const box = h('div', { class: 'table-box', tabindex: -1, onscroll: scrolled }, table);
  const empty = emptyState();
  const nothing = h('p', { class: 'nothing' }, h('span', { dir: 'auto' }), ' ', h('button', { type: 'button', class: 'small', onclick: () => filter.set('') }, 'Clear the filter'));
  const waiting = h('p', { class: 'nothing waiting' });
  const bar = toolbar();
  const policies = policyPanel();
  const events = eventsFold();
  const greeting = welcome();
  const element = h('div', { class: 'overview' }, greeting.element, bar.element, box, nothing, waiting, empty, policies.element, events.element);

  function draw() {
    if (!state) return;
    const { instances } = state;
    const none = instances.length === 0;
    empty.hidden = !none || !state.loaded;
    waiting.hidden = state.loaded;
    events.element.hidden = !state.loaded;
    policies.draw(state);
    greeting.draw(state);
    setText(waiting, state.trouble ? `${state.trouble}.`.replace(/\.\.$/, '.') : 'Looking for servers');
    box.hidden = none;
    bar.element.hidden = none;
    if (none) {
      nothing.hidden = true;
      chosen.keep([]);
      rows.draw([], state);
      return;
    }
    const byId = new Map(instances.map((one) => [one.id, one]));
    order = arrange(order, sorted(instances, head.sort).map((one) => one.id), [], held && order.length > 0);
    const wanted = words(filter.text);
    const found = order.map((id) => byId.get(id)).filter((one) => matches(one, wanted));
    listed = found.map((one) => one.id);
    chosen.keep(instances.map((one) => one.id));
    nothing.hidden = found.length > 0;
    setText(nothing.firstChild, `No server matches “${filter.text.trim()}”.`);
    box.hidden = found.length === 0;
    rows.draw(found, state);
    foot.draw(found, state);
    head.draw(chosen.state());
    bar.draw(found, state);
  }

  function scrolled() {
    if (state) top = box.scrollTop;
    rows.inView();
  }

  function toolbar() {
    const shown = h('p', { class: 'cut', 'aria-live': 'polite' });
    const clear = h('button', { type: 'button', class: 'small quiet', onclick: () => filter.set('') }, 'Clear the filter');
    const picked = h('span', { class: 'picked', role: 'status' });
    const none = h('button', { type: 'button', class: 'small quiet', onclick: () => chosen.clear() }, 'Select none');
    const end = h('button', { type: 'button', class: 'small danger outlined', onclick: () => stop(chosen.of(state.instances)) }, 'Stop selected…');
    const selected = h('div', { class: 'selected' }, picked, none, end);
    const bar = h('div', { class: 'toolbar' }, shown, clear, h('span', { class: 'grow' }), head.menu, selected);
    return {
      element: bar,
      draw(found, { instances }) {
        const number = found.length;
        setText(shown, number === instances.length ? plural(number, 'server', 'servers') : `${count(number)} of ${plural(instances.length, 'server', 'servers')}`);
        clear.hidden = filter.text === '' || number === 0;
        const list = chosen.of(instances);
        selected.classList.toggle('none', list.length === 0);
        setAttribute(selected, 'inert', list.length === 0);
        const unlisted = list.length - chosen.of(found).length;
        setText(picked, list.length === 0 ? '' : `${count(list.length)} selected, ${unlisted > 0 ? `${count(unlisted)} of them not listed` : bytes(totals(list).rss)}`);
      },
    };
  }

  rows.element.addEventListener('pointerenter', (event) => { held = event.pointerType === 'mouse'; });
  rows.element.addEventListener('pointerleave', () => { held = false; draw(); });
  filter.subscribe(draw);
  const here = { when: () => state !== null && listed.length > 0 };
  bind('j', 'next server of the table', () => rows.step(1), here);
  bind('k', 'previous server of the table', () => rows.step(-1), here);
  bind('x', 'select the server that has the focus', () => rows.toggle(), here);

  return {
    element,
    show(newer) {
      const back = state === null;
      state = newer;
      draw();
      events.follow(true);
      if (!back) return;
      box.scrollTop = top;
      greeting.again();
    },
    hide() {
      state = null;
      events.follow(false);
    },
  };
}

// eventsFold shows what happened to all, and asks for it only while it is open
// and on screen.
function eventsFold() {
  const view = eventsView({ all: true });
  const frame = folded('Events', { name: 'all-events' });
  let shown = false; // the overview is
  let following = false;
  const settle = () => {
    const wanted = shown && frame.element.open;
    if (wanted === following) return;
    following = wanted;
    if (wanted) view.show();
    else view.hide();
  };
  frame.body.append(view.element);
  frame.element.addEventListener('toggle', settle);
  return {
    element: frame.element,
    follow(on) {
      shown = on;
      settle();
    },
  };
}

// totalsRow sums up what is listed.
function totalsRow() {
  const cells = Object.fromEntries(columns.map((one) => [one.key, h('td', { role: 'cell', class: one.number ? `number cell-${one.key}` : `cell-${one.key}` })]));
  const name = h('span', { class: 'cut' });
  const freed = h('span', { class: 'cut' });
  cells.state.remove();
  cells.server.remove();
  const label = h('td', { role: 'cell', colspan: 3, class: 'foot-label' }, name);
  cells.next.append(freed);
  const order = columns.filter((one) => one.key !== 'state' && one.key !== 'server');
  const element = h('tfoot', { role: 'rowgroup' }, h('tr', { role: 'row' }, label, order.map((one) => cells[one.key]), h('td', { role: 'cell' })));
  return {
    element,
    draw(found, state) {
      const sum = totals(found);
      setText(name, found.length === state.instances.length ? 'Total' : 'Total of those listed');
      for (const [key, text] of [['memory', bytes(sum.rss)], ['cpu', percent(sum.cpu)], ['calls', count(sum.calls)]]) setText(cells[key], text);
      const { given_back_bytes: bytesBack = 0, given_back_since: since = null } = state.status ?? {};
      setText(freed, [bytesBack > 0 && `${bytes(bytesBack)} given back`, saves(found)].filter(Boolean).join(', '));
      setTitle(freed, bytesBack > 0 && since ? `Memory of servers that lamplighter has ended since ${absolute(since)}` : null);
    },
  };
}
