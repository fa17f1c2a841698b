// @ts-check
// The tab bar: the overview, then a tab per instance, in the order of the list; of
// many, group by group.

import { html, signal, useEffect, useLayoutEffect, useMemo, useRef, useState } from './preact.js';
import { dismiss } from './actions.js';
import { head, middle, plural } from './format.js';
import { useKey } from './keys.js';
import { arrange, grouped, grouping, matches, neighbour, parts } from './overview.js';
import { address, go, link, wordOf } from './router.js';
import { gone, servers } from './store.js';
import { Icon, Label, Mark, Unseen, modal } from './ui.js';

const home = ''; // the id of the overview
const nameLength = 22; // characters; beyond, the middle is left out
const held = signal(false); // the pointer is over the bar

// tabId is the id of the element, for aria-labelledby.
export const tabId = (id) => (id === home ? 'tab-overview' : `tab-${id}`);

// Tabs shows them; selected is the id of the instance that is shown, '' for the
// overview, null for none of them.
export function Tabs({ selected }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const before = useRef(/** @type {string[]} */ ([]));
  const [focusable, setFocusable] = useState(home);
  const [cut, setCut] = useState({ before: false, after: false });

  const entries = new Map(gone.value.map((one) => [one.instance.id, one]));
  for (const instance of servers.value) entries.set(instance.id, { instance, ended_at: null });
  const groups = grouped(servers.value, grouping.value);
  const order = arrange(before.current, groups.flatMap((group) => group.list.map((one) => one.id)), [...entries.keys()].filter((id) => entries.get(id).ended_at), held.value && before.current.length > 0);
  useLayoutEffect(() => { before.current = order; });
  const ids = [home, ...order];
  const reached = ids.includes(focusable) ? focusable : ids.includes(selected) ? selected : home;

  const open = (id) => (id === home ? go('') : go(wordOf(entries.get(id).instance)));
  const node = (id) => document.getElementById(tabId(id));
  const openAll = () => showAll(order, selected);
  useKey('g o', 'Everywhere', 'go to the overview', () => open(home));
  useKey('[', 'Tabs', 'previous tab', () => open(neighbour(ids, selected, -1)));
  useKey(']', 'Tabs', 'next tab', () => open(neighbour(ids, selected, 1)));
  useKey('t', 'Tabs', 'show all servers, with a filter', openAll, order.length > 0);

  // The ends behind which there is more fade; then the list of all is offered.
  const fade = () => {
    const { scrollLeft, clientWidth, scrollWidth } = /** @type {HTMLElement} */ (list.current);
    const next = { before: scrollLeft > 1, after: scrollLeft + clientWidth < scrollWidth - 1 };
    setCut((was) => (was.before === next.before && was.after === next.after ? was : next));
  };
  const reveal = () => node(selected)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  useLayoutEffect(reveal, [selected]);
  useLayoutEffect(fade);
  useEffect(() => {
    if (selected !== null) setFocusable(selected);
  }, [selected]);
  useEffect(() => {
    const observer = new ResizeObserver(() => { reveal(); fade(); });
    observer.observe(/** @type {HTMLElement} */ (list.current));
    return () => observer.disconnect();
  }, [selected]);

  // away dismisses the tab of one that has ended, and goes on to its neighbour.
  const away = async (id) => {
    const entry = entries.get(id);
    const next = neighbour(ids, id, -1);
    const focused = node(id)?.contains(document.activeElement);
    if (!entry?.ended_at || !await dismiss([entry.instance])) return;
    if (id === selected) open(next);
    if (focused) node(next)?.focus({ preventScroll: true });
  };
  const pressed = (event, id) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const to = { ArrowRight: neighbour(ids, id, 1), ArrowLeft: neighbour(ids, id, -1), Home: ids[0], End: ids.at(-1) }[event.key];
    if (to !== undefined) node(to)?.focus();
    else if (event.key === ' ') event.currentTarget.click();
    else if (event.key === 'Delete') away(id);
    else return;
    event.preventDefault();
  };
  const acts = useRef({ pressed, away, setFocusable });
  acts.current = { pressed, away, setFocusable };
  const begins = new Map(groups.filter((group) => group.name).map((group) => [group.list[0].id, group]));
  const shape = [cut.before && 'more-before', cut.after && 'more-after'].filter(Boolean).join(' ');
  return html`<nav id="tabbar" aria-label="Servers" onPointerEnter=${(event) => { held.value = event.pointerType === 'mouse'; }} onPointerLeave=${() => { held.value = false; }}>
    <div id="tabs" ref=${list} role="tablist" aria-label="Servers" class=${shape} onScroll=${fade} onWheel=${(event) => { if (event.deltaX === 0 && !event.ctrlKey) event.currentTarget.scrollLeft += event.deltaY; }}>
      <${Tab} key=${home} id=${home} selected=${selected === home} reached=${reached === home} href=${address(home)} acts=${acts} />
      ${order.map((id) => [!held.value && begins.has(id) && html`<span class="tab-group muted" key=${`of ${id}`} aria-hidden="true">${middle(begins.get(id).name, nameLength)}: ${head(begins.get(id).list)}</span>`,
        html`<${Tab} key=${id} id=${id} entry=${entries.get(id)} selected=${id === selected} reached=${id === reached} href=${link(entries.get(id).instance)} acts=${acts} />`])}
    </div>
    ${(shape || order.length > 12) && html`<button type="button" class="quiet small all" aria-haspopup="dialog" title="Show all servers (t)" onClick=${openAll}>All ${order.length}</button>`}
  </nav>`;
}

// Tab is drawn anew only when something in it is different.
function Tab({ id, entry: { instance = null, ended_at: ended = null } = {}, selected, reached, href, acts }) {
  return useMemo(() => {
    const words = ended ? 'ended' : instance?.words.state;
    const kind = ended ? 'ended' : instance?.state;
    return html`<a role="tab" id=${tabId(id)} class="tab" href=${href} title=${instance && `${instance.label}: ${words}`} data-state=${kind} aria-keyshortcuts=${ended ? 'Delete' : undefined}
      aria-controls=${selected ? 'panel' : undefined} aria-selected=${String(selected)} tabindex=${reached ? 0 : -1} onFocus=${() => acts.current.setFocusable(id)} onKeyDown=${(event) => acts.current.pressed(event, id)}>
      ${instance ? html`<${Mark} kind=${kind} /><${Label} instance=${instance} most=${nameLength} /><${Unseen}>, ${words}<//>` : 'Overview'}
      ${ended && html`<span class="tab-close" aria-hidden="true" title="Dismiss (Delete)" onClick=${(event) => { event.preventDefault(); acts.current.away(id); }}>×</span>`}</a>`;
  }, [instance, ended, selected, reached, href]);
}

// showAll offers the list of all servers, for when there are more tabs than room.
function showAll(order, selected) {
  return modal({ title: 'All servers', kind: 'dialog-all', body: (close) => html`<${AllServers} order=${order} selected=${selected} close=${close} />` });
}

function AllServers({ order, selected, close }) {
  const [text, setText] = useState('');
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const all = [...servers.value.map((instance) => ({ instance, ended_at: null })), ...gone.value].sort((a, b) => order.indexOf(a.instance.id) - order.indexOf(b.instance.id));
  const found = all.filter(({ instance }) => matches(instance, parts(text)));
  const over = all.filter((one) => one.ended_at);
  const links = () => /** @type {HTMLElement[]} */ ([...box.current?.querySelectorAll('input, li a') ?? []]);
  const put = async (list) => {
    await dismiss(list.map((one) => one.instance));
    links()[0]?.focus();
  };
  const pressed = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && event.target === links()[0]) links()[1]?.click();
    else if (event.key === 'Escape' && text) setText('');
    else if (step) links()[Math.min(Math.max(links().indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step, 0), links().length - 1)]?.focus();
    else return;
    event.preventDefault();
  };
  return html`<div class="all-box" ref=${box} onKeyDown=${pressed}>
    <input type="search" class="wide" autofocus value=${text} onInput=${(event) => setText(event.currentTarget.value)} placeholder="Filter" aria-label="Filter the list" autocomplete="off" spellcheck=${false} dir="auto" />
    <div class="all-line"><p class="muted" role="status">${found.length === 0 ? 'None matches.' : plural(found.length, 'server', 'servers')}</p>
      ${over.length > 0 && html`<button type="button" class="quiet small" onClick=${() => put(over)}>Dismiss all ended</button>`}</div>
    <ul class="all-list">${found.map((entry) => html`<li key=${entry.instance.id}>
      <a href=${link(entry.instance)} class=${entry.ended_at ? 'ended' : ''} aria-current=${entry.instance.id === selected ? 'page' : undefined} title=${entry.instance.project_root}
        onClick=${(event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) close(null); }}>
        <${Mark} kind=${entry.ended_at ? 'ended' : entry.instance.state} /><${Label} instance=${entry.instance} /><span class="muted">${entry.ended_at ? 'ended' : entry.instance.words.state}</span></a>
      ${entry.ended_at && html`<button type="button" class="quiet icon small" aria-label=${`Dismiss ${entry.instance.label}`} title="Dismiss" onClick=${() => put([entry])}><${Icon} name="close" /></button>`}</li>`)}</ul></div>`;
}
