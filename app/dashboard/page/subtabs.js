// The tabs within an instance: a tab list whose tabs are links, so that each
// view has an address.

import { h, setAttribute } from './dom.js';

export const subtabs = [
  { section: '', title: 'Details' },
  { section: 'logs', title: 'Logs' },
  { section: 'history', title: 'History' },
  { section: 'events', title: 'Events' },
  { section: 'memories', title: 'Memories' },
];

// beside is the tab that a key leads to from index i, among those offered;
// null for any other key. Pure.
export function beside(key, i, offered) {
  const list = offered.map((is, at) => (is ? at : -1)).filter((at) => at >= 0);
  const here = list.indexOf(i);
  switch (key) {
    case 'ArrowRight': return list[(here + 1) % list.length];
    case 'ArrowLeft': return list[(here + list.length - 1) % list.length];
    case 'Home': return list[0];
    case 'End': return list.at(-1);
  }
  return null;
}

// subtabBar makes the list. update takes the section shown, the address of
// each, and whether one is offered.
export function subtabBar(panelId) {
  const links = subtabs.map(({ section, title }, i) => h('a', {
    role: 'tab', id: `subtab-${section || 'overview'}`, class: 'subtab', 'aria-controls': panelId, onkeydown: (event) => pressed(event, i),
  }, title));
  const element = h('nav', { class: 'subtabs', role: 'tablist', 'aria-label': 'Views of this server' }, links);

  function pressed(event, i) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const to = event.key === ' ' ? i : beside(event.key, i, links.map((link) => !link.hidden));
    if (to === null) return;
    event.preventDefault();
    links[to].focus();
    links[to].click();
  }

  function update({ selected, address, offered }) {
    for (const [i, { section }] of subtabs.entries()) {
      const chosen = section === selected;
      links[i].hidden = !offered(section);
      setAttribute(links[i], 'href', address(section));
      setAttribute(links[i], 'aria-selected', String(chosen));
      setAttribute(links[i], 'tabindex', chosen ? 0 : -1);
    }
  }

  return { element, update, labelledBy: (section) => `subtab-${section || 'overview'}` };
}
