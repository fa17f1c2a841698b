// @ts-check
// The one line above everything, and below it what lamplighter warns of.

import { html, signal, useEffect, useRef } from './preact.js';
import { absolute, head } from './format.js';
import { showKeys, useKey } from './keys.js';
import { address, go, route } from './router.js';
import { connected, every, loaded, servers, snapshotAt, status, trouble } from './store.js';
import { retry } from './stream.js';
import { setTheme, theme, themes } from './theme.js';
import { Icon } from './ui.js';

export const filter = signal(''); // what the servers are filtered by

export function Header() {
  return html`<header id="header">
    <a class="brand" href="#/" title="Overview"><img src="assets/lantern.svg" alt="" width="24" height="24" /><h1>Lamplighter</h1></a>
    <div class="truth">
      <p class="totals">${loaded.value ? head(servers.value) : trouble.value ? '' : 'Looking for servers'}</p>
      ${loaded.value && status.value?.policy?.paused && html`<p class="muted">policies paused</p>`}
      <${Connection} />
    </div>
    <${Filter} />
    <${ViewLink} word="workspaces" name="Workspaces" k="g w" about="Workspaces: directories of jobs, and when they go" />
    <${ViewLink} word="clients" name="Clients" k="g c" about="Clients: what they start, and sharing" />
    <${Theme} />
    <${Help} />
  </header>`;
}

function Connection() {
  const kind = connected.value ? 'on' : trouble.value ? 'off' : 'waiting';
  useEffect(() => { document.documentElement.classList.toggle('stale', loaded.value && !connected.value); });
  const words = { on: every.value ? `Connected, looking every ${every.value} s` : 'Connected', off: trouble.value, waiting: 'Connecting' }[kind];
  const title = kind === 'off' && snapshotAt.value ? `${words}. What is shown is of ${absolute(snapshotAt.value)}` : words;
  return html`<div class="connection" data-kind=${kind}><span class="pulse" aria-hidden="true"></span><span class="cut" title=${title}>${words}</span>
    ${kind === 'off' && html`<button type="button" class="small" onClick=${retry}>Try now</button>`}</div>`;
}

function Filter() {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useKey('/', 'Everywhere', 'filter the servers', () => field.current?.select());
  const show = () => go('');
  const typed = (event) => {
    filter.value = event.currentTarget.value;
    if (filter.value) show();
  };
  const pressed = (event) => {
    if (event.key === 'Enter') show();
    if (event.key !== 'Escape') return;
    if (filter.value) filter.value = '';
    else field.current?.blur();
  };
  return html`<div class="filter"><${Icon} name="search" />
    <input ref=${field} type="search" value=${filter} aria-label="Filter servers" placeholder="Filter servers" autocomplete="off" spellcheck=${false} aria-keyshortcuts="/" dir="auto" onInput=${typed} onKeyDown=${pressed} />
    <kbd aria-hidden="true">/</kbd></div>`;
}

// ViewLink leads to a view that is no server's.
function ViewLink({ word, name, k, about }) {
  useKey(k, 'Everywhere', `go to the ${name.toLowerCase()}`, () => go(word));
  return html`<a id=${`${word}-link`} class="button quiet view-link" href=${address(word)} title=${`${about} (${k})`} aria-current=${route.value.word === word ? 'page' : undefined}>
    <${Icon} name=${word} /><span>${name}</span></a>`;
}

const chosen = signal(theme());
globalThis.addEventListener?.('themechange', () => { chosen.value = theme(); });

function Theme() {
  return html`<select class="theme" aria-label="Colours" title="Colours of this page" value=${chosen.value} onChange=${(event) => setTheme(event.currentTarget.value)}>
    ${themes.map((one) => html`<option value=${one}>${{ system: 'Auto', light: 'Light', dark: 'Dark' }[one]}</option>`)}</select>`;
}

function Help() {
  useKey('?', 'Everywhere', 'this list', showKeys);
  return html`<button type="button" class="quiet icon" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick=${showKeys}><${Icon} name="help" /></button>`;
}

const away = signal(/** @type {string[]} */ ([])); // warnings that were put away

export function Warnings() {
  const texts = status.value?.warnings ?? [];
  useEffect(() => { // should one come back, it is news
    if (away.value.some((text) => !texts.includes(text))) away.value = away.value.filter((text) => texts.includes(text));
  });
  const list = texts.filter((text) => !away.value.includes(text));
  return list.length > 0 && html`<div id="warnings" class="rows" role="region" aria-label="Warnings">${list.map((text) => html`<div class="warning" key=${text}>
    <p dir="auto">${text}</p>
    <button type="button" class="quiet icon small" aria-label="Put this warning away" title="Put away" onClick=${() => { away.value = [...away.value, text]; }}><${Icon} name="close" /></button></div>`)}</div>`;
}
