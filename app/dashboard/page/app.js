// @ts-check
// Puts the page together.

import { html, render, useEffect, useLayoutEffect, useRef, useState } from './preact.js';
import { phrase } from './format.js';
import { Header, Warnings } from './header.js';
import { takeToken } from './http.js';
import { Instance } from './instance.js';
import { Overview } from './overview.js';
import { parse, renew, route } from './router.js';
import { connected, find, gone, loaded, servers, settle, status, trouble } from './store.js';
import { start } from './stream.js';
import { Tabs, tabId } from './tabs.js';
import { Announcer, Dialogs, Guard, Notices, announce, say } from './ui.js';

// The views that are no server's, by their word in the address; the words of servers
// are numbers.
const views = {
  clients: { title: 'Clients', View: later(async () => (await import('./clients.js')).Clients) },
  workspaces: { title: 'Workspaces', View: later(async () => (await import('./workspaces.js')).Workspaces) },
};

// later is a view whose module is loaded when it is first shown.
function later(load) {
  let View = /** @type {any} */ (null);
  return () => {
    const [came, setCame] = useState(/** @type {{error?: Error}} */ ({}));
    useEffect(() => {
      if (!View) load().then((loaded) => { View = loaded; setCame({}); }, (error) => setCame({ error }));
    }, []);
    useLayoutEffect(() => { if (View && document.activeElement === document.body) document.getElementById('view-title')?.focus(); }, [came]);
    if (came.error) throw came.error;
    return View && html`<${View} />`;
  };
}

let top = 0; // how far down the overview was

function App() {
  const { word, section } = route.value;
  const view = Object.hasOwn(views, word) ? views[word] : null;
  const found = useFound(view ? '' : word);
  const title = found ? found.instance.label : view?.title;
  useEffect(() => { document.title = title ? `${title} · Lamplighter` : 'Lamplighter'; }, [title]);
  useAnnounced();
  useVersion();
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = view ? word : found?.instance.id ?? '';
  const before = useRef(shown);
  useLayoutEffect(() => {
    const was = before.current;
    before.current = shown;
    if (was === shown) return;
    if (panel.current) panel.current.scrollTop = shown ? 0 : top;
    // Whoever comes by a link or a key goes on here, and back where that was.
    if (view) document.getElementById('view-title')?.focus();
    else if (Object.hasOwn(views, was) && document.activeElement === document.body) document.getElementById(`${was}-link`)?.focus();
  });
  const tab = found ? tabId(found.instance.id) : tabId('');
  const skip = (event) => {
    event.preventDefault();
    panel.current?.focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <${Header} /><${Warnings} /><${Tabs} selected=${found ? found.instance.id : word ? null : ''} />
    <main id="main" tabindex="-1"><section id="panel" ref=${panel} tabindex="0" onScroll=${(event) => { if (!shown) top = event.currentTarget.scrollTop; }} role=${view || (word && !found) ? undefined : 'tabpanel'} aria-labelledby=${view ? 'view-title' : word && !found ? undefined : tab}>
      <${Guard} of=${word}>${view ? html`<${view.View} />` : found ? html`<${Instance} ...${found} section=${section} />` : !word ? html`<${Overview} />` : loaded.value && html`<div class="missing">
        <h1 dir="auto">There is no server ${word}.</h1><p>It has ended, or it never was. <a href="#/">See all servers</a></p></div>`}<//></section></main>
    <${Announcer} /><${Notices} /><${Dialogs} />`;
}

// useFound is what the address means. An instance that is shown stays, also when
// another one takes its pid: then the address names it by its id.
function useFound(word) {
  const shown = useRef(/** @type {{word: string, id: string} | null} */ (null));
  let found = word ? find(word) : null;
  if (found && shown.current?.word === word && found.instance.id !== shown.current.id) found = find(shown.current.id) ?? found;
  shown.current = found && { word, id: found.instance.id };
  const other = found && find(word)?.instance.id !== found.instance.id;
  useEffect(() => { if (other) renew(found.instance.id, route.peek().section); }, [other]);
  return found;
}

// useVersion says that lamplighter is another than the one that this page came from.
function useVersion() {
  const first = useRef('');
  const version = status.value?.version ?? '';
  useEffect(() => {
    first.current ||= version;
    return version && version !== first.current ? say(`Lamplighter ${version} runs now. Reload this page, which came from ${first.current}.`, { stays: true, action: { words: 'Reload', run: () => location.reload() } }).remove : undefined;
  }, [version]);
}

// useAnnounced tells screen readers about changes: few words, and only of what
// somebody may have to act on.
function useAnnounced() {
  const before = useRef({ loaded: false, connected: false, servers: /** @type {any[]} */ ([]), gone: /** @type {any[]} */ ([]) });
  const after = { loaded: loaded.value, connected: connected.value, trouble: trouble.value, servers: servers.value, gone: gone.value };
  useEffect(() => {
    for (const text of changes(before.current, after)) announce(text);
    before.current = after;
  });
}

// changes lists what is worth saying between two states. Pure.
export function changes(before, after) {
  const said = [];
  if (before.loaded && before.connected !== after.connected) said.push(after.connected ? 'Lamplighter answers again' : after.trouble);
  if (!before.loaded || !after.loaded) return said;
  const old = new Map(before.servers.map((one) => [one.id, one]));
  for (const one of after.servers) {
    const was = old.get(one.id);
    if (one.state === 'zombie' && was?.state !== 'zombie') said.push(`${one.label} needs attention: ${one.words.state}`);
    else if (was?.state === 'zombie' && one.state !== 'zombie') said.push(`${one.label} is well again`);
    if (one.shutdown_at && was && !was.shutdown_at) said.push(`${one.label} ${phrase(one.words.next, Date.now())}`);
  }
  const ended = new Set(before.gone.map((one) => one.instance.id));
  for (const { instance } of after.gone) if (!ended.has(instance.id) && old.has(instance.id)) said.push(`${instance.label} has ended`);
  return said;
}

if (globalThis.document) {
  takeToken();
  route.value = parse(location.hash); // it was read with the token in it
  setInterval(() => settle(), 30_000);
  start();
  render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
}
