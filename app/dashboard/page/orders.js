// What lamplighter's answers to orders mean, in words. Pure.

import { clientName } from './client.js';
import { bytes, plural } from './format.js';
import { isShared } from './sharing.js';

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

// losses says what goes with an instance, as far as it is known. repl is
// whether its interface keeps variables.
export function losses(instance, repl = false) {
  const lost = [];
  if (instance.busy) lost.push('A call is running in it; its result will be lost.');
  if (repl) lost.push('Variables kept in its REPL are lost.');
  if (isShared(instance)) lost.push(stays(instance.shared_by));
  else if (instance.managed) lost.push(`${instance.client ? `It was started for ${clientName(instance.client)}: whoever` : 'Whoever'} uses it loses it, and has to ask for another.`);
  else if (attached(instance)) lost.push(`Its client, ${clientName(instance.client)}, loses it. Most clients do not connect again until they are restarted.`);
  return lost;
}

// stays says what becomes of the clients that share a server.
function stays(clients) {
  if (clients === 0) return 'No client has it now.';
  return `${plural(clients, 'client stays', 'clients stay')} attached, and the next request starts it again.`;
}

// attached tells whether a client would miss the instance.
export function attached(instance) {
  return Boolean(instance.client) && instance.cause !== 'orphaned' && instance.cause !== 'suspected';
}

// ends says for people what ending one means, from its dry run.
export function ends(instance, { processes, freed }) {
  const name = instance.kind || 'the server';
  const others = processes > 1 ? ` and ${plural(processes - 1, 'other process', 'other processes')}` : '';
  return `This ends ${name}${others}${freed > 0 ? ` and gives back about ${bytes(freed)}` : ''}.`;
}

// why is the reason of a refusal without what the title says already.
export function why(instance, text) {
  const known = `Not ended: ${instance.label} `;
  if (!text.startsWith(known)) return text;
  const rest = text.slice(known.length);
  return `It ${rest}${/[.!?]$/.test(rest) ? '' : '.'}`;
}

// common splits what several lose, lists of sentences, into what all of them
// lose and what only each does.
export function common(lists) {
  const shared = lists.length > 1 ? lists[0].filter((text) => lists.every((list) => list.includes(text))) : [];
  return { shared, own: lists.map((list) => list.filter((text) => !shared.includes(text))) };
}

// refusedAs is what a refusal was about: once any of it is different, the
// refusal says nothing any more.
export function refusedAs(instance) {
  return [instance.state, instance.cause, Boolean(instance.busy), Boolean(instance.pinned)].join(' ');
}

// summary tells what came of several orders: [{instance, verdict}].
export function summary(results) {
  const of = (kind) => results.filter((one) => one.verdict.kind === kind);
  const ended = of('fine');
  const sentences = [];
  if (ended.length > 0) {
    const freed = ended.reduce((sum, one) => sum + one.verdict.freed, 0);
    sentences.push(`${plural(ended.length, 'server', 'servers')} ended, about ${bytes(freed)} given back.`);
  }
  const gone = of('gone');
  if (gone.length > 0) sentences.push(`${plural(gone.length, 'had', 'had')} ended before.`);
  const not = results.filter((one) => !['fine', 'gone'].includes(one.verdict.kind));
  for (const one of not.slice(0, 3)) sentences.push(one.verdict.text);
  if (not.length > 3) sentences.push(`${not.length - 3} more were not ended.`);
  return { text: sentences.join(' '), bad: not.length > 0 };
}

// planned sums up dry runs: [{instance, verdict}].
export function planned(plans) {
  const fine = plans.filter((one) => one.verdict.kind === 'fine');
  const processes = fine.reduce((sum, one) => sum + one.verdict.processes, 0);
  const freed = fine.reduce((sum, one) => sum + one.verdict.freed, 0);
  const all = fine.length === plans.length ? `${plural(fine.length, 'server', 'servers')}` : `${fine.length} of ${plural(plans.length, 'server', 'servers')}`;
  return `This ends ${all} with ${plural(processes, 'process', 'processes')} and gives back about ${bytes(freed)}.`;
}
