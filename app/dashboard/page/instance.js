// The view of one instance: its header, the tabs within it, and what each shows.

import { h, setAttribute } from './dom.js';
import { eventsView } from './events.js';
import { askable } from './facts.js';
import { instanceHead } from './instancehead.js';
import { instanceOverview } from './instanceoverview.js';
import { bind } from './keys.js';
import { answered } from './kept.js';
import { laterSection } from './later.js';
import { memoriesView } from './memories.js';
import { budget } from './poll.js';
import { router } from './router.js';
import { store } from './store.js';
import { subtabBar, subtabs } from './subtabs.js';

const makers = {
  overview: instanceOverview, events: eventsView, memories: memoriesView,
  known: () => laterSection({ title: 'What is known', load: async () => (await import('./known.js')).knownView() }),
  history: () => laterSection({ title: 'History', load: async () => (await import('./history.js')).historyView() }),
  logs: () => laterSection({ title: 'Logs', load: async () => (await import('./logs.js')).logsView() }),
};
const asking = ['logs', 'memories']; // sections that only a dashboard has

// instanceView shows what it is given: {instance, ended_at, why} of the store.
// A view is made when it is first looked at, and kept.
export function instanceView() {
  const panel = h('div', { id: 'instance-panel', class: 'instance-panel', role: 'tabpanel' });
  const head = instanceHead();
  const tabs = subtabBar(panel.id);
  const element = h('div', { class: 'instance' }, head.element, tabs.element, panel);
  const made = new Map(); // name → view
  let now = null; // {found, section, name}

  function show(found, section = '') {
    const name = viewOf(found, section);
    if (now && now.found.instance.id === found.instance.id && now.name === name) {
      now.section = section;
      update(found);
      return;
    }
    hide();
    if (askable(found.instance)) budget(found.instance.id).begin();
    begin(found, section, name);
  }

  function begin(found, section, name) {
    if (!made.has(name)) {
      made.set(name, makers[name]());
      panel.append(made.get(name).element);
    }
    for (const [other, view] of made) view.element.hidden = other !== name;
    panel.dataset.view = name;
    const scroller = element.closest('section');
    if (scroller) scroller.scrollTop = 0;
    now = { found, section, name };
    draw();
    made.get(name).show(state(found));
  }

  // update takes a newer state of the same instance. One whose dashboard has
  // come, or is known to be gone, gets the view for that.
  function update(found) {
    if (!now) return;
    const name = viewOf(found, now.section);
    if (name !== now.name) {
      const { section } = now;
      hide();
      begin(found, section, name);
      return;
    }
    now.found = found;
    draw();
    made.get(name).update(state(found));
  }

  function hide() {
    if (!now) return;
    made.get(now.name).hide();
    now = null;
  }

  function draw() {
    const { found, section } = now;
    const { instance } = found;
    element.classList.toggle('ended', Boolean(found.ended_at));
    head.update(found);
    const selected = now.name === 'known' ? '' : section;
    tabs.update({ selected, address: (of) => router.link(instance, of), offered: (of) => of === '' || offered(found, of) });
    setAttribute(panel, 'aria-labelledby', tabs.labelledBy(selected));
  }

  function step(by) {
    const list = subtabs.map((one) => one.section).filter((section) => section === '' || offered(now.found, section));
    const i = list.indexOf(now.name === 'known' ? '' : now.section);
    router.go(router.word(now.found.instance), list[(i + by + list.length) % list.length]);
  }

  const shown = () => now !== null;
  bind('{', 'previous view of the server', () => step(-1), { when: shown });
  bind('}', 'next view of the server', () => step(1), { when: shown });

  return { element, show, update, hide };
}

const silent = ['suspended', 'unreachable'];

// state is what the views get: ended as a truth value, silent when nothing that
// is shown can be of now, and paused while lamplighter itself cannot be asked.
function state(found) {
  return { ...found, ended: Boolean(found.ended_at), silent: silent.includes(found.instance.cause), paused: !store.state.connected };
}

// viewOf is the name of the view for a section. What ended is shown as it was
// known.
function viewOf(found, section) {
  if (!offered(found, section)) return 'known';
  if (section) return section;
  return found.ended_at && !answered(found.instance.id) ? 'known' : 'overview';
}

function offered({ instance }, section) {
  return section && !asking.includes(section) ? true : askable(instance);
}
