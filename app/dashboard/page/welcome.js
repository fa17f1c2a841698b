// @ts-check
// The welcome above the overview, once after installing: what Lamplighter sees, what
// it does and does not, and what there is to decide. It takes no focus, covers
// nothing, and goes for good when it is closed.

import { html, useState } from './preact.js';
import { count, plural, sentence } from './format.js';
import { get, queued, send } from './http.js';
import { queryOf, useQuery } from './query.js';
import { address } from './router.js';
import { servers, status } from './store.js';
import { Icon, announce, attempt } from './ui.js';

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

async function ask(signal) {
  const welcome = await get('welcome', { signal });
  if (welcome?.show) announce('A welcome stands above the servers');
  return welcome;
}

const tell = (name, value) => { queryOf(name).answer.value = { value, at: new Date(), trouble: null }; };

function close() {
  tell('welcome', null);
  document.getElementById('panel')?.focus({ preventScroll: true });
  attempt(() => send('PUT', 'welcome', { dismissed: true }), 'The welcome will be shown again.');
}

export function Welcome() {
  const { value: welcome } = useQuery('welcome', ask, { once: true });
  if (!welcome?.show) return null;
  const { version, login: offered, clients } = welcome;
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

// standing says what starts it at login, or what follows while nothing does, and what
// is odd about it.
export function standing({ on, can, how, why }) {
  const does = on && how ? `By ${/^[aeiou]/i.test(how) ? 'an' : 'a'} ${how}.` : '';
  const off = !on && can ? 'Off: you start it yourself after each login.' : '';
  return [does || off, why ? sentence(why) : ''].filter(Boolean).join(' ');
}

// AtLogin is a switch, with what prevents it below. It can be reached also where it
// cannot be switched, so that all can hear why.
export function AtLogin() {
  const { value, trouble } = useQuery('login', (signal) => get('login', { signal }));
  const [working, setWorking] = useState(false);
  const set = async (on) => {
    setWorking(true);
    const done = await attempt(async () => tell('login', await send('PUT', 'login', { on }, { limit: queued })));
    setWorking(false);
    if (done) announce(`Start at login is ${on ? 'on' : 'off'}`);
    else queryOf('login').refresh(); // it may be another way than it was
  };
  const note = working ? 'Switching…' : value ? standing(value) : '';
  const can = Boolean(value?.can) && !working;
  return html`<div class="at-login">
    ${value && html`<label><input type="checkbox" checked=${value.on} aria-disabled=${String(!can)} aria-description=${note} onClick=${(event) => {
      event.preventDefault(); // it changes when lamplighter says so
      if (can) set(event.currentTarget.checked);
    }} /><span>Start at login</span></label>`}
    ${note && html`<p class="muted" dir="auto">${note}</p>`}
    ${!value && trouble && html`<p class="problem" role="alert" dir="auto">${sentence(trouble.text)}</p>`}</div>`;
}
