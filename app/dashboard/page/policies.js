// @ts-check
// The policies below the overview: what each does with the servers now, the switch
// of each rule, how to pause them, and start at login.

import { html, useLayoutEffect, useRef } from './preact.js';
import { stop } from './actions.js';
import { absolute, bytes, clockTime, count, duration, phrase } from './format.js';
import { get, send } from './http.js';
import { useQuery } from './query.js';
import { address } from './router.js';
import { find, servers, status } from './store.js';
import { retry } from './stream.js';
import { Fold, attempt, isOpen, now, say } from './ui.js';
import { AtLogin } from './welcome.js';

// standing is the short form: what a closed panel tells.
export function standing(policy, at) {
  if (policy.paused) return paused(policy, at);
  const on = policy.rules.filter((rule) => rule.on && rule.set).length;
  return on === 0 ? 'all off' : `${count(on)} of ${count(policy.rules.length)} on`;
}

const paused = ({ paused_until: until }, at) => (until ? `paused until ${clockTime(until, at)}` : 'paused until resumed');

function effect(policy, at) {
  if (!policy.active) return 'Another lamplighter acts on them; this one only shows them.';
  return policy.paused ? `They are ${paused(policy, at)}: nothing is ended, and you are told of nothing.` : 'What is to be ended is shown minutes before.';
}

const settings = { orphans: 'orphan_grace_minutes', zombies: 'zombie_prune_minutes', memory: 'memory_notify', duplicates: 'duplicates' };

// restOfDay is the number of minutes until midnight, at least one.
export function restOfDay(at) {
  const end = new Date(at);
  end.setHours(24, 0, 0, 0);
  return Math.max(1, Math.ceil((Number(end) - Number(at)) / 60_000));
}

// useDecisions follows what the policies do now.
export function useDecisions(on = true) {
  const policy = status.value?.policy;
  const news = JSON.stringify(policy) + servers.value.map((one) => one.shutdown_at);
  return useQuery('decisions', (signal) => get('decisions', { signal }), { every: 30_000, on: on && policy?.rules?.length > 0, news }).value?.decisions ?? [];
}

export function Policies() {
  const policy = status.value?.policy;
  const rules = policy?.rules ?? [];
  const decisions = useDecisions(isOpen('policies'));
  if (rules.length === 0) return null;
  const suspected = servers.value.filter((one) => one.cause === 'suspected' && !one.client_gone); // no rule ends these
  const { given_back_bytes: freed = 0, given_back_since: since = null } = status.value;
  const button = (words, run, kind) => html`<button type="button" class=${`small ${kind}`} onClick=${run}>${words}</button>`;
  return html`<${Fold} title="Policies" name="policies" count=${standing(policy, now.value)}><div class="policy">
    <ul class="policy-rules" aria-label="Rules">${rules.map((rule) => html`<li key=${rule.name}><label>
      <input type="checkbox" checked=${rule.on && rule.set} disabled=${!rule.set} onClick=${(event) => {
        event.preventDefault(); // it changes when lamplighter says so
        order({ rule: rule.name, on: event.currentTarget.checked });
      }} /><span>${rule.words}</span></label>
      ${rule.name === 'idle' && html`<${Idle} rule=${rule} />`}
      ${!rule.set && rule.name !== 'idle' && html`<span class="muted policy-missing">${settings[rule.name] ? `set ${settings[rule.name]} to use it` : 'it needs a setting'}</span>`}</li>`)}</ul>
    <div class="policy-standing"><p class="muted">${effect(policy, now.value)}</p>
      <${Pauses} policy=${policy} />
      ${freed > 0 && html`<p class="muted">${bytes(freed)} freed${since && ` since ${absolute(since)}`}</p>`}
      <p class="line">${[['idle', 'idle'], ['orphans', 'orphaned']].map(([what, word]) => policy[what] > 0 && button(`Stop ${policy[what]} ${word}…`, () => end(what, word), 'danger outlined'))}
        ${suspected.length > 0 && button(`Stop ${suspected.length} suspected…`, () => stop(suspected), 'danger outlined')}</p></div>
    ${decisions.length > 0 && html`<div class="policy-decisions"><h3>What they do now</h3><ul>${decisions.map((one) => html`<li key=${one.id + one.rule} title=${one.evidence.join('\n')}>
      <a href=${address(one.id)} dir="auto">${one.label}</a> <span dir="auto">${phrase(one.words, now.value)}</span></li>`)}</ul></div>`}
  </div><div class="policy-login"><${AtLogin} /></div><//>`;
}

// Pauses pause the policies, or resume them. Whoever has just paused goes on with how
// to take that back.
function Pauses({ policy }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const was = useRef(policy.paused);
  useLayoutEffect(() => {
    if (was.current !== policy.paused && document.activeElement === document.body) box.current?.querySelector('button')?.focus();
    was.current = policy.paused;
  });
  const button = (words, wish) => html`<button type="button" class="small" key=${words} onClick=${() => order(wish)}>${words}</button>`;
  return html`<p class="line" ref=${box}>${policy.paused ? button('Resume', { paused: false }) : [
    button('Pause for 1 h', { paused: true, minutes: 60 }),
    button('Pause for today', { paused: true, minutes: restOfDay(new Date()) }),
    button('Pause until resumed', { paused: true, minutes: null }),
  ]}</p>`;
}

const times = [10, 30, 60, 120];

// Idle sets when idle servers end, and whether those do whose client is connected.
function Idle({ rule: { minutes = null, attached = false } }) {
  const set = (next) => order({ rule: 'idle', minutes, attached: attached && minutes !== null, ...next });
  const offered = minutes === null || times.includes(minutes) ? times : [minutes, ...times];
  return html`<div class="policy-idle">
    <select aria-label="When idle servers end" value=${minutes ?? ''} onChange=${({ currentTarget: { value } }) => set(value ? { minutes: Number(value) } : { minutes: null, attached: false })}>
      <option value="">never</option>${offered.map((n) => html`<option value=${n}>after ${duration(60 * n)}</option>`)}</select>
    <label><input type="checkbox" checked=${attached} disabled=${minutes === null} onClick=${(event) => {
      event.preventDefault(); // it changes when lamplighter says so
      set({ attached: event.currentTarget.checked });
    }} /><span>also those whose client is connected: most clients do not start them again</span></label></div>`;
}

// order asks for a change of the policies; the stream says how they stand then.
const order = (wish) => attempt(async () => {
  await send('PUT', 'policy', wish);
  retry();
});

// end asks which ones are meant now, and goes on as for a selection.
const end = (what, word) => attempt(async () => {
  const { decisions } = await get(`decisions?what=${what}`);
  const list = decisions.filter((one) => one.do === 'end').map((one) => find(one.id)?.instance).filter(Boolean);
  if (list.length > 0) await stop(list, what);
  else say(`No server is ${word} any more.`);
});
