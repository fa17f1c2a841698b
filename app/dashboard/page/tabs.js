// The tab bar: the overview, then a tab per instance, in the order of the list.

import { arrange, neighbour } from './arrange.js';
import { beforeDismissal, dismiss } from './dismiss.js';
import { h, keyed, setAttribute, setText, setTitle } from './dom.js';
import { state as stateWords } from './format.js';
import { bind } from './keys.js';
import { label as makeLabel, setLabel } from './label.js';
import { setMark } from './marks.js';
import { router } from './router.js';
import { store } from './store.js';
import { showAll } from './taball.js';

const home = ''; // the id of the overview
const nameLength = 22; // characters; beyond, the middle is left out

// tabs fills the bar; the result takes the state of the store and the id of
// the instance that is shown, '' for the overview, null for none of them.
export function tabs(bar, list) {
  let order = [];
  let entries = new Map(); // id → {instance, ended_at}
  let selected = home;
  let focusable = home; // the one tab that Tab reaches
  let held = false; // the pointer is over the bar
  let drawn = 0; // how many tabs there were
  const nodes = new Map();

  const all = h('button', { type: 'button', class: 'quiet small all', hidden: true, 'aria-haspopup': 'dialog', title: 'Show all servers (t)', onclick: openAll });
  bar.append(all);

  function openAll() {
    showAll(order.map((id) => entries.get(id)), selected);
  }

  function make({ id }) {
    const holder = h('span', { class: 'mark-holder' });
    const label = makeLabel({ class: 'tab-label' });
    const words = h('span', { class: 'unseen' });
    const close = id === home ? null : h('span', { class: 'tab-close', 'aria-hidden': 'true', title: 'Dismiss (Delete)', onclick: dismissed }, '×');
    const tab = h('a', { role: 'tab', id: tabId(id), class: 'tab', 'aria-controls': id === home ? 'panel-overview' : 'panel-instance' }, id === home ? null : holder, label, words, close);
    function dismissed(event) {
      event.preventDefault();
      dismissOne(id);
    }
    tab.addEventListener('keydown', (event) => pressed(event, id));
    tab.addEventListener('focus', () => { focusable = id; rove(); });
    nodes.set(id, { tab, holder, label, words, close });
    return tab;
  }

  function update(tab, { id, instance, ended_at: endedAt }) {
    const parts = nodes.get(id);
    if (id === home) {
      setText(parts.label.firstChild, 'Overview');
      setAttribute(tab, 'href', '#/');
    } else {
      const ended = Boolean(endedAt);
      const address = router.link(instance);
      const shows = [instance.label, instance.state, instance.cause, instance.dashboard_url, ended, address, id === selected].join('\n');
      if (parts.shows === shows) return;
      parts.shows = shows;
      setMark(parts.holder, instance.state, { ended });
      setLabel(parts.label, instance, nameLength);
      setText(parts.words, `, ${ended ? 'ended' : stateWords(instance)}`);
      setTitle(tab, `${instance.label}: ${ended ? 'ended' : stateWords(instance)}`);
      setAttribute(tab, 'href', address);
      tab.classList.toggle('ended', ended);
      parts.close.hidden = !ended;
      setAttribute(tab, 'aria-keyshortcuts', ended ? 'Delete' : null);
    }
    setAttribute(tab, 'aria-selected', String(id === selected));
  }

  function rove() {
    for (const [id, { tab }] of nodes) setAttribute(tab, 'tabindex', id === focusable ? 0 : -1);
  }

  function draw() {
    const ids = [home, ...order];
    for (const id of nodes.keys()) if (!ids.includes(id)) nodes.delete(id);
    if (!ids.includes(focusable)) focusable = ids.includes(selected) ? selected : home;
    keyed(list, ids.map((id) => ({ id, ...entries.get(id) })), (one) => one.id, make, update);
    rove();
    setText(all, `All ${order.length}`);
  }

  function arrangeNow(state) {
    entries = new Map(state.ended.map((one) => [one.instance.id, one]));
    for (const instance of state.instances) entries.set(instance.id, { instance, ended_at: null });
    const living = state.instances.map((one) => one.id);
    order = arrange(order, living, [...entries.keys()].filter((id) => entries.get(id).ended_at), held);
  }

  function pressed(event, id) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const ids = [home, ...order];
    const to = { ArrowRight: neighbour(ids, id, 1), ArrowLeft: neighbour(ids, id, -1), Home: ids[0], End: ids.at(-1) }[event.key];
    if (to !== undefined) focus(to);
    else if (event.key === ' ') nodes.get(id).tab.click();
    else if (event.key === 'Delete') dismissOne(id);
    else return;
    event.preventDefault();
  }

  function focus(id) {
    nodes.get(id).tab.focus({ preventScroll: true });
    reveal(id);
  }

  function reveal(id) {
    nodes.get(id)?.tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  // fade marks the ends behind which there is more; then the list of all is
  // offered.
  function fade() {
    all.hidden = list.scrollWidth <= list.clientWidth;
    list.classList.toggle('more-before', list.scrollLeft > 1);
    list.classList.toggle('more-after', list.scrollLeft + list.clientWidth < list.scrollWidth - 1);
  }

  function dismissOne(id) {
    const entry = entries.get(id);
    if (entry?.ended_at) dismiss([entry.instance]);
  }

  // leaveFor goes on to the neighbour of one that is about to go. The store
  // tells of that only later, so it is taken out of the order here.
  function leaveFor(id) {
    if (!order.includes(id)) return;
    const next = neighbour([home, ...order], id, -1);
    if (nodes.get(id).tab.contains(document.activeElement)) focus(next);
    if (id === selected) {
      selected = next;
      open(next);
    }
    order = order.filter((one) => one !== id);
  }

  function open(id) {
    if (id === home) router.go('');
    else router.go(router.word(entries.get(id).instance));
  }

  beforeDismissal(leaveFor);
  bar.addEventListener('pointerenter', (event) => { held = event.pointerType === 'mouse'; });
  bar.addEventListener('pointerleave', () => { held = false; arrangeNow(store.state); draw(); });
  // A wheel that turns only up and down means sideways here.
  list.addEventListener('wheel', (event) => {
    if (event.deltaX === 0 && !event.ctrlKey) list.scrollLeft += event.deltaY;
  }, { passive: true });
  list.addEventListener('scroll', fade, { passive: true });
  new ResizeObserver(() => { reveal(selected); fade(); }).observe(list);

  bind('g o', 'go to the overview', () => open(home));
  bind('[', 'previous tab', () => open(neighbour([home, ...order], selected, -1)));
  bind(']', 'next tab', () => open(neighbour([home, ...order], selected, 1)));
  bind('t', 'show all servers, with a filter', openAll, { when: () => order.length > 0 });

  return (state, shown) => {
    const moved = shown !== selected;
    selected = shown;
    if (moved && shown !== null) focusable = shown;
    arrangeNow(state);
    draw();
    if (moved) reveal(selected);
    if (order.length !== drawn) fade();
    drawn = order.length;
  };
}

// tabId is the id of the element, for aria-labelledby.
export function tabId(id) {
  return id === home ? 'tab-overview' : `tab-${id}`;
}
