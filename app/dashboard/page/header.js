// The one line above everything: name, totals, connection, filter, theme, help.
// Below it, in a strip of its own, what lamplighter warns of.

import { h, keyed, replace, setAttribute, setText, setTitle } from './dom.js';
import { absolute, bytes, head } from './format.js';
import { filter } from './filter.js';
import { icon } from './icons.js';
import { bind, means, showKeys } from './keys.js';
import { address, clientsWord, router, workspacesWord } from './router.js';
import { stream } from './stream.js';
import { nextTheme, setTheme, theme } from './theme.js';

// header fills its element; the result takes each state of the store.
export function header(element, warnings) {
  const totals = h('p', { class: 'totals cut' }, 'Looking for servers');
  const freed = h('p', { class: 'freed cut muted', hidden: true });
  const words = h('span', { class: 'cut' });
  const again = h('button', { type: 'button', class: 'small', hidden: true, onclick: () => stream.retry() }, 'Try now');
  const connection = h('div', { class: 'connection' }, h('span', { class: 'pulse', 'aria-hidden': 'true' }), words, again);
  const box = filterBox();
  const clients = viewLink({ word: clientsWord, key: 'g c', name: 'Clients', kind: 'clients', about: 'Clients: what they start, and sharing' });
  const spaces = viewLink({ word: workspacesWord, key: 'g w', name: 'Workspaces', kind: 'workspaces', about: 'Workspaces: directories of jobs, and when they go' });
  replace(element,
    h('a', { class: 'brand', href: '#/', title: 'Overview' }, h('img', { src: 'assets/lantern.svg', alt: '', width: 24, height: 24 }), h('h1', null, 'Lamplighter')),
    h('div', { class: 'truth' }, totals, freed, connection),
    box.element, spaces, clients, themeButton(), helpButton());
  const warn = warningStrip(warnings);
  return (state) => {
    setText(totals, state.loaded ? head(state.instances) : state.trouble ? '' : 'Looking for servers');
    const back = state.status?.given_back_bytes ?? 0;
    setText(freed, [back > 0 && `${bytes(back)} given back`, state.status?.policy?.paused && 'policies paused'].filter(Boolean).join(', '));
    freed.hidden = !state.loaded || freed.textContent === '';
    setTitle(freed, state.status?.given_back_since ? `Memory of servers that lamplighter has ended since ${absolute(state.status.given_back_since)}` : null);
    const kind = state.connected ? 'on' : state.trouble ? 'off' : 'waiting';
    setAttribute(connection, 'dataset', { kind });
    setText(words, { on: state.every ? `Connected, looking every ${state.every} s` : 'Connected', off: state.trouble, waiting: 'Connecting' }[kind]);
    setTitle(words, kind === 'off' && state.at ? `${state.trouble}. What is shown is of ${absolute(state.at)}` : words.textContent);
    again.hidden = kind !== 'off';
    document.documentElement.classList.toggle('stale', state.loaded && !state.connected);
    box.update();
    warn(state.status?.warnings ?? []);
  };
}

function filterBox() {
  const field = h('input', { type: 'search', 'aria-label': 'Filter servers', placeholder: 'Filter servers', autocomplete: 'off', spellcheck: 'false', 'aria-keyshortcuts': '/', dir: 'auto' });
  const show = () => { if (router.route.word) router.go(''); };
  field.addEventListener('input', () => {
    filter.set(field.value);
    if (field.value) show();
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') show();
    if (event.key !== 'Escape') return;
    if (field.value) filter.set('');
    else field.blur();
  });
  filter.subscribe((text) => setAttribute(field, 'value', text));
  const go = () => { field.focus(); field.select(); };
  bind('/', 'filter the servers', go);
  const hint = h('kbd', { 'aria-hidden': 'true' }, '/');
  return {
    element: h('div', { class: 'filter' }, icon('search'), field, hint),
    // A view may have the key for a search of its own.
    update() {
      const ours = means('/', go);
      hint.hidden = !ours;
      setAttribute(field, 'aria-keyshortcuts', ours ? '/' : null);
    },
  };
}

// viewLink leads to a view that is no server's, such as the settings of clients,
// and is where the focus returns to from there.
function viewLink({ word, key, name, kind, about }) {
  bind(key, `go to the ${name.toLowerCase()}`, () => router.go(word));
  const link = h('a', { id: `${kind}-link`, class: 'button quiet view-link', href: address(word), title: `${about} (${key})` }, icon(kind), h('span', null, name));
  const show = () => setAttribute(link, 'aria-current', router.route.word === word ? 'page' : null);
  router.subscribe(show);
  show();
  return link;
}

function themeButton() {
  const button = h('button', { type: 'button', class: 'quiet icon' });
  const names = { system: 'as the system', light: 'light', dark: 'dark' };
  const show = () => {
    const text = `Colours: ${names[theme()]}. Press for ${names[nextTheme(theme())]}`;
    replace(button, icon(theme()));
    setAttribute(button, 'aria-label', text);
    setTitle(button, text);
  };
  button.addEventListener('click', () => setTheme(nextTheme(theme())));
  addEventListener('themechange', show);
  show();
  return button;
}

function helpButton() {
  bind('?', 'this list', showKeys);
  return h('button', { type: 'button', class: 'quiet icon', 'aria-label': 'Keyboard shortcuts', title: 'Keyboard shortcuts (?)', onclick: showKeys }, icon('help'));
}

// warningStrip shows each warning until it is over or was put away.
function warningStrip(strip) {
  const away = new Set();
  let now = [];
  const show = () => {
    const list = now.filter((text) => !away.has(text));
    strip.hidden = list.length === 0;
    keyed(strip, list, (text) => text, (text) => h('div', { class: 'warning' },
      h('p', { dir: 'auto' }, text),
      h('button', { type: 'button', class: 'quiet icon small', 'aria-label': 'Put this warning away', title: 'Put away', onclick: () => { away.add(text); show(); } }, icon('close'))));
  };
  return (texts) => {
    now = texts;
    for (const text of away) if (!texts.includes(text)) away.delete(text); // should it come back, it is news
    show();
  };
}
