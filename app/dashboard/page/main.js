// Puts the page together and hands it what the stream and the address say.

import { announcer } from './changes.js';
import { h, replace, setAttribute } from './dom.js';
import { header } from './header.js';
import { takeToken } from './http.js';
import { instanceView } from './instance.js';
import { laterView } from './later.js';
import { overview } from './overview.js';
import { clientsWord, router, workspacesWord } from './router.js';
import { store } from './store.js';
import { stream } from './stream.js';
import { tabId, tabs } from './tabs.js';

takeToken();

const byId = (id) => document.getElementById(id);
const drawHeader = header(byId('header'), byId('warnings'));
const drawTabs = tabs(byId('tabbar'), byId('tabs'));
const announce = announcer();
const all = overview();
const one = instanceView();
const clientsTitle = 'clients-title';
const clients = laterView({
  title: 'Clients', heading: clientsTitle,
  load: async () => (await import('./setuppanel.js')).clientsView({ heading: clientsTitle, opener: () => byId('clients-link') }),
});
const workspacesTitle = 'workspaces-title';
const spaces = laterView({
  title: 'Workspaces', heading: workspacesTitle,
  load: async () => (await import('./workspacespanel.js')).workspacesView({ heading: workspacesTitle, opener: () => byId('workspaces-link') }),
});
// The views that are no server's, by their word in the address.
const views = { [clientsWord]: { view: clients, title: 'Clients' }, [workspacesWord]: { view: spaces, title: 'Workspaces' } };

const panels = {
  overview: h('section', { id: 'panel-overview', role: 'tabpanel', tabindex: 0, 'aria-labelledby': tabId('') }, all.element),
  instance: h('section', { id: 'panel-instance', role: 'tabpanel', tabindex: 0, hidden: true }, one.element),
  clients: h('section', { tabindex: 0, hidden: true, 'aria-labelledby': clientsTitle }, clients.element),
  workspaces: h('section', { tabindex: 0, hidden: true, 'aria-labelledby': workspacesTitle }, spaces.element),
  missing: h('section', { class: 'missing', hidden: true }),
};
byId('main').append(...Object.values(panels));

let begun = false; // the page was drawn once
let shown = null; // {id, word, section} of the instance that is shown

function draw() {
  const { state } = store;
  const { word, section } = router.route;
  const found = foundBy(word, section);
  const kind = Object.hasOwn(views, word) ? word : found ? 'instance' : word && state.loaded ? 'missing' : word ? null : 'overview';
  for (const [name, { view }] of Object.entries(views)) if (name !== kind) view.hide(); // while it still has the focus
  for (const [name, panel] of Object.entries(panels)) panel.hidden = name !== kind;
  if (Object.hasOwn(views, kind ?? '')) views[kind].view.show({ focus: begun });
  if (kind === 'overview') all.show(state);
  else all.hide();
  drawInstance(found, word, section);
  if (kind === 'missing') drawMissing(word);
  drawTabs(state, found ? found.instance.id : word ? null : '');
  drawHeader(state);
  const title = found ? `${found.instance.label} · Lamplighter` : Object.hasOwn(views, kind ?? '') ? `${views[kind].title} · Lamplighter` : 'Lamplighter';
  if (document.title !== title) document.title = title;
}

// foundBy is what the address means. An instance that is shown stays, also when
// another one takes its port: then the address names it by its id.
function foundBy(word) {
  const found = store.find(word);
  if (!shown || shown.word !== word || found?.instance.id === shown.id) return found;
  return store.find(shown.id) ?? found;
}

function drawInstance(found, word, section) {
  if (!found) {
    if (shown) one.hide();
    shown = null;
    return;
  }
  const { id } = found.instance;
  setAttribute(panels.instance, 'aria-labelledby', tabId(id));
  const same = shown?.id === id && shown.section === section;
  shown = { id, word, section };
  if (same) one.update(found);
  else one.show(found, section);
}

function drawMissing(word) {
  replace(panels.missing,
    h('h1', { dir: 'auto' }, `There is no server ${word}.`),
    h('p', null, 'It has ended, or it never was. ', h('a', { href: '#/' }, 'See all servers')));
}

// The address of an instance that lost its port to another says which it is.
function settle() {
  const { word, section } = router.route;
  if (!shown || shown.word !== word || store.find(word)?.instance.id === shown.id) return;
  shown.word = shown.id;
  router.renew(shown.id, section);
}

router.subscribe(draw);
store.subscribe((state) => {
  draw();
  settle();
  announce(state);
});
setInterval(() => store.tidy(), 30_000);
router.start();
stream.start();
draw();
begun = true;
