// What can be done to an instance. Nothing is shown as done before lamplighter
// says so, and its words are shown.

import { readOverview } from './answers.js';
import { confirm, modal, tell } from './dialog.js';
import { dismiss } from './dismiss.js';
import { h, setAttribute, setText } from './dom.js';
import { askable } from './facts.js';
import { clockTime, hasDashboard, plural } from './format.js';
import { Failure, ending, instance as requests, queued } from './http.js';
import { icon } from './icons.js';
import { kept } from './kept.js';
import { say } from './notice.js';
import { common, ends, losses, planned, refusedAs, summary, verdict, why } from './orders.js';
import { offered } from './policies.js';
import { store } from './store.js';

const atOnce = 4; // orders at the same time
const patience = 1_000; // ms to find out what kind of interface one has
const forceable = new Map(); // id → what it was refused as, but not for good
let underWay = 0; // orders that were given and not answered

// open shows the instance's own dashboard.
export function open(instance) {
  if (hasDashboard(instance)) window.open(instance.dashboard_url, '_blank', 'noopener,noreferrer');
}

// stop asks about one or several and ends them, a few at a time.
export async function stop(instances) {
  const list = instances.filter((one) => !store.state.pending.has(one.id));
  if (list.length === 0) return;
  const plans = await dryRun(list, false);
  if (list.length === 1 && plans[0].verdict.kind !== 'fine') {
    await cannot(plans[0]);
    return;
  }
  const fine = plans.filter((one) => one.verdict.kind === 'fine');
  if (fine.length === 0) {
    await tell({ title: 'None of them can be stopped now', body: h('div', null, details(plans)) });
    return;
  }
  const title = list.length === 1 ? `Stop ${list[0].label}?` : `Stop ${list.length} servers?`;
  const body = list.length === 1 ? about(plans[0]) : h('div', null, h('p', null, planned(plans)), details(plans));
  const action = fine.length === list.length ? 'Stop' : `Stop ${fine.length} of them`;
  if (await confirm({ title, body, action, danger: true })) await carryOut(fine.map((one) => one.instance), false);
}

// kill ends one also when it is at work, in use or pinned.
export async function kill(instance) {
  if (store.state.pending.has(instance.id)) return;
  const [plan] = await dryRun([instance], true);
  if (plan.verdict.kind !== 'fine') {
    await cannot(plan, true);
    return;
  }
  const body = h('div', null, h('p', null, 'It is ended even if it is at work, in use or pinned.'), about(plan));
  if (await confirm({ title: `Kill ${instance.label}?`, body, action: 'Kill', danger: true })) await carryOut([instance], true);
}

// pin asks that no policy ends an instance, or takes that back.
export async function pin(instance, pinned) {
  try {
    const answer = await requests(instance.id).put('pin', { pinned });
    store.answered(instance.id, { pinned: Boolean(answer?.pinned) });
    say(answer?.pinned ? `Pinned: ${instance.label} is left alone.` : `No longer pinned: ${instance.label}.`, { kind: 'good' });
  } catch (error) {
    fail(error);
  }
}

// keep asks that no policy ends an instance for so many minutes; 0: no longer.
export async function keep(instance, minutes) {
  try {
    const answer = await requests(instance.id).put('keep', { minutes });
    const until = answer?.kept_until ?? null;
    store.answered(instance.id, until ? { kept_until: until, shutdown_at: null, shutdown_reason: null } : { kept_until: null });
    say(until ? `Kept until ${clockTime(until, Date.now())}: ${instance.label}.` : `No longer kept: ${instance.label}.`, { kind: 'good' });
  } catch (error) {
    fail(error);
  }
}

async function order(instance, force, dry) {
  try {
    return verdict({ answer: await requests(instance.id).post('kill', { force, dry_run: dry }, { limit: dry ? queued : ending }) });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return verdict({ failure: error });
  }
}

async function dryRun(instances, force) {
  const plans = instances.map((instance) => ({ instance, verdict: null, repl: false }));
  await aFewAtATime([...plans], async (plan) => {
    const { instance } = plan;
    store.order(instance.id, 'checking…');
    [plan.verdict, plan.repl] = await Promise.all([order(instance, force, true), keepsVariables(instance)]);
    remember(instance, plan.verdict, force);
    store.order(instance.id, '');
  });
  return plans;
}

// aFewAtATime works through a list, which may be shortened meanwhile.
async function aFewAtATime(waiting, work) {
  const one = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

// keepsVariables tells whether variables of a session would be lost. One that
// does not say in time is not waited for.
async function keepsVariables(instance) {
  const known = kept(instance.id).overview?.value;
  if (known) return known.agentInterface === 'REPL';
  if (!askable(instance)) return false;
  try {
    return readOverview(await requests(instance.id).get('get_config_overview', { limit: patience })).agentInterface === 'REPL';
  } catch {
    return false; // nobody knows, so nothing is said
  }
}

function remember(instance, found, force) {
  if (found.kind === 'refused' && found.forceable) forceable.set(instance.id, refusedAs(store.find(instance.id)?.instance ?? instance));
  else if (!force) forceable.delete(instance.id);
}

async function carryOut(instances, force) {
  const results = [];
  const waiting = [...instances];
  const rest = () => {
    for (const { id } of waiting.splice(0)) {
      underWay--;
      store.order(id, '');
    }
  };
  const progress = instances.length > 1 ? say('', { stays: true, action: { words: 'Do not stop the rest', run: rest } }) : null;
  const told = () => progress?.tell(`Stopping ${plural(instances.length, 'server', 'servers')}: ${results.length} done`, waiting.length > 0);
  underWay += instances.length;
  for (const instance of instances) store.order(instance.id, 'to be stopped');
  await aFewAtATime(waiting, async (instance) => {
    told();
    store.order(instance.id, 'stopping…');
    try {
      const found = await order(instance, force, false);
      remember(instance, found, force);
      results.push({ instance, verdict: found });
    } finally {
      underWay--;
      store.order(instance.id, '');
    }
    told();
  });
  progress?.remove();
  if (instances.length === 1) {
    const { kind, text } = results[0].verdict;
    say(text, { kind: { fine: 'good', gone: 'plain' }[kind] ?? 'bad' });
    return;
  }
  const { text, bad } = summary(results);
  say(text, { kind: bad ? 'bad' : 'good' });
}

// cannot says why one is not ended, and offers force where that would help.
async function cannot({ instance, verdict: found }, force = false) {
  if (found.kind === 'gone') {
    say(found.text);
    return;
  }
  const insist = await modal({ title: `${instance.label} was not stopped`, dismissed: false }, (close) => {
    const no = h('button', { type: 'button', onclick: () => close(false) }, 'Close');
    const yes = found.forceable && !force ? h('button', { type: 'button', class: 'apart outlined danger', onclick: () => close(true) }, 'Kill…') : null;
    return {
      content: [h('div', { class: 'dialog-body' }, h('p', { dir: 'auto' }, why(instance, found.text))), h('div', { class: 'dialog-actions' }, yes, no)],
      focus: no,
    };
  });
  if (insist) await kill(instance);
}

// asKnown is an instance as it is by now. That it is at work is seen in its
// queue first, where the page follows that; a call that still waits there is
// lost as well.
function asKnown(instance) {
  const now = store.find(instance.id)?.instance ?? instance;
  const calls = kept(instance.id).queue?.value?.length > 0;
  return { ...now, busy: Boolean(now.busy || calls) };
}

const warnings = (texts) => texts.map((text) => h('p', { dir: 'auto', class: 'loss' }, text));
const how = (text) => h('details', { class: 'how' }, h('summary', null, 'How'), h('p', { dir: 'auto' }, text));

function about({ instance, verdict: found, repl }) {
  return h('div', null, h('p', { dir: 'auto' }, ends(instance, found)), warnings(losses(asKnown(instance), repl)), how(found.text));
}

// details puts those first that are not stopped. What all the others lose is
// said once, before the list.
function details(plans) {
  const not = plans.filter((one) => one.verdict.kind !== 'fine');
  const fine = plans.filter((one) => one.verdict.kind === 'fine');
  const { shared, own } = common(fine.map(({ instance, repl }) => losses(asKnown(instance), repl)));
  const item = ({ instance }, kind, ...children) => h('li', { class: kind }, h('strong', { dir: 'auto' }, instance.label), children);
  return [
    warnings(shared),
    h('ul', { class: 'plans' },
      not.map((plan) => item(plan, 'refused', h('p', { dir: 'auto' }, why(plan.instance, plan.verdict.text)))),
      fine.map((plan, i) => item(plan, null, warnings(own[i]), how(plan.verdict.text)))),
  ];
}

function fail(error) {
  if (error.name === 'AbortError') return;
  say(error.message, { kind: 'bad' });
}

// mayKill tells whether to kill it is offered: for red ones, and where it was found
// out that it helps.
export function mayKill(instance) {
  if (forceable.has(instance.id) && forceable.get(instance.id) !== refusedAs(instance)) forceable.delete(instance.id);
  return mayStop(instance) && (instance.state === 'zombie' || forceable.has(instance.id));
}

// mayStop is whether an order could be followed at all.
export function mayStop(instance) {
  return instance.recognised !== false && instance.state !== 'parked' && instance.cause !== 'defunct';
}

// mayKeep is whether a policy could end it, so that to keep it means something.
function mayKeep(instance) {
  return mayStop(instance) && !instance.pinned && offered(store.state.status?.policy);
}

const keepFor = 60; // minutes

// actionBar is a row of buttons for one instance; its method update takes a
// newer state, and {ended: true} when it has ended. With compact they are
// icons.
export function actionBar(instance, { compact = false } = {}) {
  let now = instance;
  const button = (name, words, run, kind = '') => {
    const label = h('span', { class: compact ? 'unseen' : null }, words);
    const node = h('button', { type: 'button', class: `${compact ? 'quiet icon small' : ''} ${kind}`.trim(), onclick: () => run(now) }, icon(name), label);
    node.words = (text, title = text) => {
      setText(label, text);
      setAttribute(node, 'title', title);
    };
    return node;
  };
  const openButton = button('open', 'Open its dashboard', open);
  const pinButton = button('pin', 'Pin', (one) => pin(one, !one.pinned));
  const keepButton = button('keep', 'Keep for 1 h', (one) => keep(one, one.kept_until ? 0 : keepFor), 'keep');
  const stopButton = button('stop', 'Stop', (one) => stop([one]), 'danger apart');
  const killButton = button('kill', 'Kill', kill, 'danger');
  const dismissButton = button('close', 'Dismiss', (one) => dismiss([one]));
  const bar = h('div', { class: compact ? 'actions compact' : 'actions' }, compact ? [keepButton, openButton] : [openButton, keepButton], pinButton, stopButton, killButton, dismissButton);
  let drawn = '';
  bar.update = (next, { ended = false } = {}) => {
    now = next;
    const waits = store.state.pending.has(next.id);
    const wanted = [next.label, next.pinned, next.state === 'parked', mayKeep(next), next.kept_until, next.shutdown_at, mayStop(next), mayKill(next), hasDashboard(next), waits, ended].join('\n');
    if (wanted === drawn) return;
    drawn = wanted;
    openButton.hidden = ended || !hasDashboard(next);
    openButton.words(compact ? `Open the own dashboard of ${next.label}` : 'Open its dashboard');
    // In a table it is there for those about to end.
    keepButton.hidden = ended || !mayKeep(next) || compact && !next.shutdown_at && !next.kept_until;
    setAttribute(keepButton, 'dataset', { on: next.kept_until ? '' : null });
    const keeps = next.kept_until ? 'no longer' : 'for 1 h';
    keepButton.words(compact ? `Keep ${next.label} ${keeps}` : `Keep ${keeps}`, next.kept_until ? 'Kept: no policy ends it. Press to keep it no longer' : 'Keep: no policy ends it for 1 h');
    pinButton.hidden = ended || next.state === 'parked';
    setAttribute(pinButton, 'dataset', { on: next.pinned ? '' : null });
    const does = next.pinned ? 'Unpin' : 'Pin';
    pinButton.words(compact ? `${does} ${next.label}` : does, next.pinned ? 'Pinned: no policy ends it. Press to unpin' : 'Pin: no policy ends it');
    stopButton.hidden = ended || !mayStop(next);
    setAttribute(stopButton, 'aria-disabled', String(waits));
    stopButton.words(compact ? `Stop ${next.label}` : 'Stop', 'Stop: asks first');
    killButton.hidden = ended || !mayKill(next);
    setAttribute(killButton, 'aria-disabled', String(waits));
    killButton.words(compact ? `Kill ${next.label}` : 'Kill', 'Kill, also when it is at work, in use or pinned: asks first');
    dismissButton.hidden = !ended;
  };
  bar.update(instance);
  return bar;
}

// What waits to be stopped would stay, and nobody would hear how it went.
if (globalThis.addEventListener) {
  addEventListener('beforeunload', (event) => {
    if (underWay > 0) event.preventDefault();
  });
}
