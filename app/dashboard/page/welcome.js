// @ts-check
// The welcome above the overview, once after installing: what Lamplighter sees, what
// it does and does not, and what there is to decide. It takes no focus, covers
// nothing, and goes for good when it is closed.

import { html, signal, useEffect } from './preact.js';
import { count, plural, sentence } from './format.js';
import { get, queued, send } from './http.js';
import { shown } from './query.js';
import { address } from './router.js';
import { connected, servers, status } from './store.js';
import { Icon, announce, say } from './ui.js';

const answer = signal(/** @type {any} */ (null));
let over = false; // there is nothing to show any more

// does says what it ends by itself, as its policies stand now.
export function does(policy) {
  const rules = (policy?.rules ?? []).filter((rule) => rule.on && rule.set && rule.words.startsWith('End '));
  if (policy?.rules?.length > 0 && !policy.active) return 'Another lamplighter acts on the policies, so this one ends nothing by itself.';
  if (rules.length === 0) return 'It ends nothing by itself; it only tells you.';
  if (policy.paused) return 'Its policies are paused, so it ends nothing by itself now.';
  const what = rules.map((rule) => rule.words.slice('End '.length));
  const all = what.length === 1 ? what[0] : `${what.slice(0, -1).join(', ')} and ${what.at(-1)}`;
  const orphans = rules.some((rule) => rule.name === 'orphans') ? ' Orphaned means that its client is proven to be gone.' : '';
  return `It ends ${all}, and shows that minutes before.${orphans} Of everything else it only tells you.`;
}

const leaves = 'It ends no server that is in use, changes no settings of a client unless you say so, and sends nothing off this machine: no statistics, no check for updates.';

async function ask() {
  try {
    const now = await get('welcome');
    if (over) return;
    if (now?.show && !answer.peek()) announce('A welcome stands above the servers');
    over = !now?.show;
    login.value ??= now?.login ?? null;
    answer.value = now?.show ? now : null;
  } catch {
    // Nobody is bothered with that. It is asked again with the next connection.
  }
}

async function close() {
  over = true;
  answer.value = null;
  document.getElementById('panel')?.focus({ preventScroll: true });
  try {
    await send('PUT', 'welcome', { dismissed: true });
  } catch (error) {
    say(`The welcome will be shown again. ${sentence(error.message)}`, { kind: 'bad' });
  }
}

export function Welcome() {
  useEffect(() => { if (connected.value && !over) ask(); }, [connected.value]);
  if (!answer.value) return null;
  const { version, login: offered, clients } = answer.value;
  const n = servers.value.length;
  const sees = n === 0 ? 'None runs now; each appears here by itself.' : `${n === 1 ? 'One runs' : `${count(n)} run`} now.`;
  const part = (title, text) => html`<div><h3>${title}</h3><p>${text}</p></div>`;
  return html`<section class="card welcome" aria-labelledby="welcome-title">
    <div class="welcome-head"><h2 id="welcome-title">Welcome to Lamplighter</h2><span class="muted cut" dir="auto">${version}</span>
      <button type="button" class="quiet small" onClick=${close}><${Icon} name="close" />Close<span class="unseen"> the welcome</span></button></div>
    <div class="welcome-parts">
      ${part('What it sees', `The MCP servers that your assistants start: whose they are, what they work on and how much memory they use. ${sees}`)}
      ${part('What it does by itself', does(status.value?.policy))}${part('What it does not', leaves)}</div>
    <div class="welcome-choices">${offered && html`<${AtLogin} />`}
      <p><a class="button small" href=${address('clients')}>${clients === 0 ? 'Look at my clients’ settings' : 'Share servers among my clients…'}</a>
        ${typeof clients === 'number' && html`<span class="muted"> ${clients === 0 ? 'There is nothing to change in them now.' : `${plural(clients, 'client starts', 'clients start')} a Serena that does not run through Lamplighter yet.`}</span>`}</p></div>
  </section>`;
}

// Start at login: how it stands, which all its switches on the page share.

export const login = signal(/** @type {{on: boolean, can: boolean, how: string | null, why: string | null} | null} */ (null)); // null: not known yet
const trouble = signal('');
const working = signal(false);

// standing says what does it, or what follows while nothing does, and what is odd
// about it.
export function standing({ on, can, how, why }) {
  const does = on && how ? `By ${/^[aeiou]/i.test(how) ? 'an' : 'a'} ${how}.` : '';
  const off = !on && can ? 'Off: you start it yourself after each login.' : '';
  return [does || off, why ? sentence(why) : ''].filter(Boolean).join(' ');
}

// look asks how it stands now. What is shown stays when nobody answers.
async function look() {
  try {
    const value = await get('login');
    if (!working.peek()) login.value = value;
  } catch (error) {
    if (!login.peek()) trouble.value = sentence(error.message);
  }
}

async function set(on) {
  if (working.peek()) return;
  working.value = true;
  trouble.value = '';
  try {
    login.value = await send('PUT', 'login', { on }, { limit: queued });
    announce(`Start at login is ${on ? 'on' : 'off'}`);
  } catch (error) {
    trouble.value = sentence(error.message);
  }
  working.value = false;
  if (trouble.peek()) look(); // it may be another way than it was
}

// AtLogin is a switch, with what prevents it below. It can be reached also where it
// cannot be switched, so that all can hear why.
export function AtLogin() {
  useEffect(() => { if (shown.value) look(); }, [shown.value]); // the menu of the icon switches it too
  const value = login.value;
  const note = working.value ? 'Switching…' : value ? standing(value) : '';
  const can = Boolean(value?.can) && !working.value;
  return html`<div class="at-login">
    ${value && html`<label><input type="checkbox" checked=${value.on} aria-disabled=${String(!can)} aria-description=${note} onClick=${(event) => {
      event.preventDefault(); // it changes when lamplighter says so
      if (can) set(event.currentTarget.checked);
    }} /><span>Start at login</span></label>`}
    ${note && html`<p class="muted" dir="auto">${note}</p>`}
    ${trouble.value && html`<p class="problem" role="alert" dir="auto">${trouble.value}</p>`}</div>`;
}
