// @ts-check
// What can be done to an instance. Nothing is shown as done before lamplighter
// says so, and its words are shown.

import { html } from './preact.js';
import { forget, homeOf, unsavedOf } from './drafts.js';
import { bytes, clockTime, plural } from './format.js';
import { Failure, ending, instance as requests, queued } from './http.js';
import { answerTo } from './query.js';
import { dismiss as putAway, find, order as note, pending, servers, status } from './store.js';
import { retry } from './stream.js';
import { Icon, attempt, confirm, modal, prompt, say, tell } from './ui.js';

const atOnce = 4; // orders at the same time

// verdict reads the answer to an order, {answer: Killed} or {failure: Failure}.
// kind is 'fine' (ended, or would end), 'gone' (it had ended before), 'refused',
// 'failed' or 'unknown' (nobody could say).
export function verdict({ answer = null, failure = null }) {
  const body = answer ?? failure?.answer ?? {};
  const text = body.detail || failure?.message || 'Lamplighter gave no reason.';
  const result = { text, processes: body.processes ?? 0, freed: body.freed_bytes ?? 0, forceable: Boolean(body.forceable) };
  if (!failure) return { ...result, kind: 'fine' };
  if (body.outcome === 'gone' || failure.status === 404) return { ...result, kind: 'gone' };
  if (body.outcome === 'refused' || failure.status === 409) return { ...result, kind: 'refused' };
  return { ...result, kind: failure.status === 0 ? 'unknown' : 'failed' };
}

// common splits what several lose, lists of sentences, into what all of them
// lose and what only each does.
export function common(lists) {
  const shared = lists.length > 1 ? lists[0].filter((text) => lists.every((list) => list.includes(text))) : [];
  return { shared, own: lists.map((list) => list.filter((text) => !shared.includes(text))) };
}

// planned sums up dry runs, [{instance, verdict}]: what they end and free.
export function planned(plans) {
  const fine = plans.filter((one) => one.verdict.kind === 'fine');
  const processes = fine.reduce((sum, one) => sum + one.verdict.processes, 0);
  const freed = fine.reduce((sum, one) => sum + one.verdict.freed, 0);
  const all = fine.length === plans.length ? plural(fine.length, 'server', 'servers') : `${fine.length} of ${plural(plans.length, 'server', 'servers')}`;
  const what = plural(processes, 'process', 'processes');
  return `This ends ${plans.length === 1 ? what : `${all} with ${what}`}${freed > 0 ? ` and frees about ${bytes(freed)}` : ''}.`;
}

// summary tells what came of several orders: [{instance, verdict}].
export function summary(results) {
  const of = (kind) => results.filter((one) => one.verdict.kind === kind);
  const [fine, gone] = [of('fine'), of('gone')];
  const not = results.filter((one) => !['fine', 'gone'].includes(one.verdict.kind));
  const freed = fine.reduce((sum, one) => sum + one.verdict.freed, 0);
  const sentences = [
    fine.length > 0 && `${plural(fine.length, 'server', 'servers')} ended, about ${bytes(freed)} freed.`,
    gone.length > 0 && `${gone.length} had ended before.`,
    ...not.slice(0, 3).map((one) => one.verdict.text),
    not.length > 3 && `${not.length - 3} more were not ended.`,
  ];
  return { text: sentences.filter(Boolean).join(' '), bad: not.length > 0 };
}

// mayStop is whether an order could be followed at all.
export const mayStop = (instance) => instance.certainty !== 'unsure' && instance.state !== 'parked' && instance.cause !== 'defunct';

// mayKill is whether to kill it is offered at once; otherwise a refusal to stop it
// offers that, where it helps.
export const mayKill = (instance) => mayStop(instance) && instance.state === 'zombie';

// mayKeep is whether a policy could end it, so that to keep it means something.
const mayKeep = (instance) => mayStop(instance) && !instance.pinned && status.value?.policy?.rules?.length > 0;

// stop asks about one or several and ends them, a few at a time.
export async function stop(instances, rule = undefined) {
  const list = instances.filter((one) => !pending.peek().has(one.id));
  if (list.length === 0) return;
  const plans = await dryRun(list, false, rule);
  if (list.length === 1 && plans[0].verdict.kind !== 'fine') return cannot(plans[0]);
  const fine = plans.filter((one) => one.verdict.kind === 'fine');
  if (fine.length === 0) return tell({ title: 'None of them can be stopped now', body: html`<div><${Details} plans=${plans} /></div>` });
  const agreed = await confirm({
    title: list.length === 1 ? `Stop ${list[0].label}?` : `Stop ${list.length} servers?`,
    body: list.length === 1 ? html`<${About} plan=${plans[0]} />` : html`<div><p>${planned(plans)}</p><${Details} plans=${plans} /></div>`,
    action: fine.length === list.length ? 'Stop' : `Stop ${fine.length} of them`,
    danger: true,
  });
  return agreed && carryOut(fine.map((one) => one.instance), false, rule);
}

// kill ends one also when it is at work, in use or pinned.
export async function kill(instance) {
  if (pending.peek().has(instance.id)) return undefined;
  const [plan] = await dryRun([instance], true);
  if (plan.verdict.kind !== 'fine') return cannot(plan, true);
  const body = html`<div><p>It is ended even if it is at work, in use or pinned.</p><${About} plan=${plan} /></div>`;
  const agreed = await confirm({ title: `Kill ${instance.label}?`, body, action: 'Kill', danger: true });
  return agreed && carryOut([instance], true);
}

// pin asks that no policy ends an instance, or takes that back.
const pin = (instance, wanted) => attempt(async () => {
  const pinned = Boolean((await requests(instance.id).put('pin', { pinned: wanted }))?.pinned);
  retry();
  say(pinned ? `Pinned: ${instance.label} is left alone.` : `No longer pinned: ${instance.label}.`, { kind: 'good' });
});

// nameChild and hideChild say of a child on a client's pipes that it is a server, or
// that it is none.
export async function nameChild(child) {
  const name = await prompt({ title: `Is ${child.name} (${child.pid}) a server?`, label: 'Name of the server', action: 'Name it', check: (text) => (text.trim() ? '' : 'Give it a name.') });
  if (name) await writeRule(child, { name: name.trim() }, `${child.name} and its like are servers named ${name.trim()} from now on.`);
}

export async function hideChild(child) {
  const body = 'It and its like are not shown from then on. A rule is written into the settings, where you can take it out again.';
  if (await confirm({ title: `Hide ${child.name} (${child.pid})?`, body, action: 'Hide' })) await writeRule(child, { hidden: true }, `${child.name} and its like are hidden.`);
}

const writeRule = (child, rule, done) => attempt(async () => {
  await requests(child.id).put('rule', rule);
  say(done, { kind: 'good' });
});

// restart has an instance started again, at once where its clients keep it.
async function restart(instance) {
  const lost = instance.restart === 'lost';
  if (lost && !await confirm({ title: `Restart ${instance.label}?`, body: instance.words.restart, action: 'Restart', danger: true })) return;
  await startAgain(instance, 'restart', { confirm: lost }, 'restarting…');
}

async function startAgain(instance, route, order, doing) {
  note(instance.id, doing);
  await attempt(async () => say((await requests(instance.id).post(route, order, { limit: ending }))?.detail ?? '', { kind: 'good' }));
  note(instance.id, '');
}

// keep asks that no policy ends an instance for so many minutes; 0: no longer.
const keep = (instance, minutes) => attempt(async () => {
  const until = (await requests(instance.id).put('keep', { minutes }))?.kept_until ?? null;
  retry();
  say(until ? `Kept until ${clockTime(until, Date.now())}: ${instance.label}.` : `No longer kept: ${instance.label}.`, { kind: 'good' });
});

// dismiss puts instances away that have ended, and resolves to whether it did:
// first it asks where that loses what somebody wrote.
export async function dismiss(instances) {
  const homes = [...new Set(instances.map(homeOf))].filter((home) => !servers.peek().some((one) => homeOf(one) === home)); // the next server has the others
  const unsaved = homes.flatMap(unsavedOf);
  const which = unsaved.length === 1 ? unsaved[0] : `${unsaved.length} memories`;
  if (unsaved.length > 0 && !await confirm({ title: `Discard the changes to ${which}?`, body: 'What you wrote is not saved, and is lost.', action: 'Discard and dismiss', cancel: 'Keep', danger: true })) return false;
  for (const home of homes) forget(home);
  for (const { id } of instances) putAway(id);
  return true;
}

async function order(instance, force, dry, rule) {
  try {
    return verdict({ answer: await requests(instance.id).post('kill', { force, dry_run: dry, rule }, { limit: dry ? queued : ending }) });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return verdict({ failure: error });
  }
}

async function dryRun(instances, force, rule = undefined) {
  const plans = instances.map((instance) => ({ instance, verdict: /** @type {any} */ (null) }));
  for (const { id } of instances) note(id, 'checking…');
  await aFewAtATime([...plans], async (plan) => { plan.verdict = await order(plan.instance, force, true, rule); });
  for (const { id } of instances) note(id, '');
  return plans;
}

// aFewAtATime works through a list, which may be shortened meanwhile.
async function aFewAtATime(waiting, work) {
  const one = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

async function carryOut(instances, force, rule = undefined) {
  const results = [];
  const waiting = [...instances];
  const rest = () => {
    for (const { id } of waiting.splice(0)) note(id, '');
  };
  const progress = instances.length > 1 ? say('', { stays: true, action: { words: 'Do not stop the rest', run: rest } }) : null;
  const told = () => progress?.tell(`Stopping ${plural(instances.length, 'server', 'servers')}: ${results.length} done`, waiting.length > 0);
  for (const instance of instances) note(instance.id, 'to be stopped');
  await aFewAtATime(waiting, async (instance) => {
    told();
    note(instance.id, 'stopping…');
    results.push({ instance, verdict: await order(instance, force, false, rule) });
    note(instance.id, '');
    told();
  });
  progress?.remove();
  if (instances.length > 1) {
    const { text, bad } = summary(results);
    say(text, { kind: bad ? 'bad' : 'good' });
    return;
  }
  const { kind, text } = results[0].verdict;
  say(text, { kind: { fine: 'good', gone: 'plain' }[kind] ?? 'bad' });
}

// cannot says why one is not ended, and offers force where that would help.
async function cannot({ instance, verdict: found }, force = false) {
  if (found.kind === 'gone') {
    say(found.text);
    return;
  }
  const insist = await modal({
    title: `${instance.label} was not stopped`, dismissed: false,
    body: (close) => html`<div class="dialog-body"><p dir="auto">${found.text}</p></div><div class="dialog-actions">
      ${found.forceable && !force && html`<button type="button" class="apart outlined danger" onClick=${() => close(true)}>Kill…</button>`}
      <button type="button" autofocus onClick=${() => close(false)}>Close</button></div>`,
  });
  if (insist) await kill(instance);
}

// losses are what goes with an instance as it is by now. That it is at work is seen
// in its queue first, where the page follows that.
function losses({ instance }) {
  const { words, busy } = find(instance.id)?.instance ?? instance;
  const waits = !busy && answerTo(`queue ${instance.id}`).value?.length > 0;
  return [waits && 'A call is running in it; its result will be lost.', ...words.loses].filter(Boolean);
}

const Losses = ({ texts }) => texts.map((text) => html`<p dir="auto" class="loss">${text}</p>`);
const How = ({ text }) => html`<details class="how"><summary>How</summary><p dir="auto">${text}</p></details>`;
const About = ({ plan }) => html`<div><p>${planned([plan])}</p><${Losses} texts=${losses(plan)} /><${How} text=${plan.verdict.text} /></div>`;

// Details puts those first that are not stopped. What all the others lose is said
// once, before the list.
function Details({ plans }) {
  const fine = plans.filter((one) => one.verdict.kind === 'fine');
  const { shared, own } = common(fine.map(losses));
  return html`<${Losses} texts=${shared} /><ul class="plans rows">
    ${plans.filter((one) => one.verdict.kind !== 'fine').map((plan) => html`<li class="refused"><strong dir="auto">${plan.instance.label}</strong><p dir="auto">${plan.verdict.text}</p></li>`)}
    ${fine.map((plan, i) => html`<li><strong dir="auto">${plan.instance.label}</strong><${Losses} texts=${own[i]} /><${How} text=${plan.verdict.text} /></li>`)}</ul>`;
}

// Actions is a row of buttons for one instance. With compact, in a table, all but
// Stop are icons.
export function Actions({ instance, ended = false, compact = false }) {
  const { label, pinned, kept_until: kept } = instance;
  const waits = pending.value.has(instance.id);
  const name = compact ? ` ${label}` : '';
  const button = (icon, words, title, run, on = false) => html`<button type="button" class=${compact ? 'quiet icon small' : ''} title=${title} data-on=${on ? '' : undefined} onClick=${run}>
    <${Icon} name=${icon} /><span class=${compact ? 'unseen' : ''}>${words}</span></button>`;
  if (ended) return html`<div class="actions">${button('close', 'Dismiss', 'Put this server away', () => dismiss([instance]))}</div>`;
  const danger = (words, title, run) => html`<button type="button" class=${`danger ${compact ? 'small outlined' : ''}`} title=${title} aria-disabled=${waits ? 'true' : undefined} onClick=${run}>
    ${words}${compact && html`<span class="unseen">${name}</span>`}</button>`;
  return html`<div class=${`actions ${compact ? 'compact' : ''}`}>
    ${instance.dashboard_url && html`<a class=${`button ${compact ? 'quiet icon small' : ''}`} href=${instance.dashboard_url} target="_blank" rel="noopener noreferrer" title="Open its own dashboard">
      <${Icon} name="open" /><span class=${compact ? 'unseen' : ''}>${compact ? `Open the dashboard of${name}` : 'Open its dashboard'}</span></a>`}
    ${mayKeep(instance) && (!compact || instance.shutdown_at || kept) && button('keep', `Keep${name} ${kept ? 'no longer' : 'for 1 h'}`, kept ? 'Kept: no policy ends it. Press to keep it no longer' : 'Keep: no policy ends it for 1 h', () => keep(instance, kept ? 0 : 60), Boolean(kept))}
    ${instance.state !== 'parked' && button('pin', `${pinned ? 'Unpin' : 'Pin'}${name}`, pinned ? 'Pinned: no policy ends it. Press to unpin' : 'Pin: no policy ends it', () => pin(instance, !pinned), pinned)}
    <span class="apart"></span>
    ${!compact && instance.problem?.order === 'restart_language_server' && html`<button type="button" aria-disabled=${waits ? 'true' : undefined} onClick=${() => waits || startAgain(instance, 'restart-language-server', {}, 'restarting its language server…')}>Restart language server</button>`}
    ${instance.restart && html`<button type="button" class=${compact ? 'small quiet' : ''} title=${instance.words.restart} aria-disabled=${waits ? 'true' : undefined} onClick=${() => waits || restart(instance)}>${instance.restart === 'lost' ? 'Restart…' : 'Restart'}${compact && html`<span class="unseen">${name}</span>`}</button>`}
    ${mayKill(instance) && danger('Kill', 'Kill, also when it is at work, in use or pinned: asks first', () => kill(instance))}
    ${mayStop(instance) && danger('Stop', 'Stop: asks first', () => stop([instance]))}</div>`;
}

// What waits to be stopped would stay, and nobody would hear how it went.
globalThis.addEventListener?.('beforeunload', (event) => {
  if (pending.peek().size > 0) event.preventDefault();
});
