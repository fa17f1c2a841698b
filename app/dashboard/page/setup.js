// @ts-check
// The settings of clients, and what would become of them, in words. Pure.

import { plural, sentence } from './format.js';

// The words of entries are those of `lamplighter setup --list`.
const states = ['direct', 'shared', 'other', 'gone', 'remote', 'odd'];

// markOf is the mark of an entry: a Serena that could be shared and is not is
// told from another server, about which nothing is to be done, and one that is
// shared from one that only runs through lamplighter-connect.
export function markOf({ state, serena, alone }) {
  if (state === 'direct') return serena ? 'direct' : 'plain';
  if (state === 'shared' && serena && alone) return 'alone';
  return states.includes(state) ? state : 'odd';
}

// nameOf is the name of an entry, with the folder that it counts for where the
// file has several.
export function nameOf({ name, path }) {
  return [name, ...path.slice(0, -1).filter((part) => /[/\\]/.test(part)).map((folder) => `for ${folder}`)].join(' ');
}

// wordOf is the state of an entry in a word.
export function wordOf(entry) {
  const kind = markOf(entry);
  return kind === 'alone' ? kind : entry.state;
}

// isOurs tells whether it runs a lamplighter-connect, be it there or not.
export function isOurs({ state }) {
  return ['shared', 'other', 'gone'].includes(state);
}

// notes are what else there is to say of an entry, as sentences.
export function notes(entry) {
  const all = [];
  if (entry.state === 'other') all.push('It runs the lamplighter-connect of another installation.');
  if (entry.state === 'gone') all.push(`The lamplighter-connect that it runs ${entry.broken}, so it cannot start.`);
  if (entry.now) all.push(`Runs now: ${entry.now}.`);
  if (entry.why) all.push(entry.why);
  else if (entry.missing) all.push(`Its program ${entry.missing} is not found.`);
  if (entry.serena && entry.alone) all.push(`It cannot be shared, so its server is its own: ${entry.alone}.`);
  if (entry.opens_page) all.push('Serena’s own page opens for every server.');
  return all;
}

function entriesOf(client) {
  return client.files.flatMap((file) => file.entries);
}

// isFound tells whether a client has settings here.
export function isFound(client) {
  return client.files.some((file) => file.exists);
}

// shownFiles are those to list of a client that was found.
export function shownFiles(client) {
  return client.files.filter((file) => file.exists || file.problem || file.entries.length > 0);
}

const isShared = ({ state, alone }) => state === 'shared' && !alone;

// standing is how a client stands, in short.
export function standing(client) {
  const serenas = entriesOf(client).filter((one) => one.serena);
  const shared = serenas.filter(isShared).length;
  if (serenas.length === 0) return client.files.some((file) => file.problem) ? 'cannot be read' : 'no Serena';
  if (shared === serenas.length) return shared === 1 ? 'its Serena is shared' : `all ${shared} Serenas are shared`;
  if (serenas.length > 1) return `${shared} of ${serenas.length} Serenas are shared`;
  return serenas[0].state === 'shared' ? 'its Serena runs through Lamplighter, alone' : 'its Serena is not shared';
}

// summary is how all stand.
export function summary(clients) {
  const found = clients.filter(isFound);
  if (found.length === 0) return '';
  const serenas = found.flatMap(entriesOf).filter((one) => one.serena);
  const shared = serenas.filter(isShared).length;
  const here = plural(found.length, 'client', 'clients');
  return serenas.length === 0 ? `${here}, no Serena` : `${here}, ${shared} of ${plural(serenas.length, 'Serena', 'Serenas')} shared`;
}

// running says whether a client runs now.
export function running({ running: pids }) {
  if (pids.length === 0) return '';
  return pids.length === 1 ? 'runs now' : `runs now, ${pids.length} times`;
}

// offers are the changes that make sense for a client.
export function offers(client) {
  const all = entriesOf(client);
  const share = all.some((one) => one.becomes);
  return {
    share,
    undo: client.files.some((file) => file.changed) || all.some(isOurs),
    quiet: !share && mayQuiet(client),
  };
}

// staysAlone tells whether none of the Serenas that would be changed can be
// shared, so that to share is not what is offered.
export function staysAlone(client) {
  const changing = entriesOf(client).filter((one) => one.becomes);
  return changing.length > 0 && changing.every((one) => one.serena && one.alone);
}

// mayQuiet tells whether Serena's own page opens also where it runs through
// Lamplighter, and that could be stopped.
export function mayQuiet(client) {
  return entriesOf(client).some((one) => one.page_stops);
}

// command is what stands in the settings, as far as it is known to the page.
export function command(entry) {
  return isOurs(entry) ? `lamplighter-connect connect -- ${entry.runs}` : entry.runs;
}

// afterwards is the command of an entry that was changed from one to the other.
function afterwards(was, then) {
  if (!isOurs(then)) return then.runs;
  if (!was?.becomes) return command(then);
  if (then.runs === was.runs) return was.becomes;
  const front = was.runs && was.becomes.endsWith(was.runs) ? was.becomes.slice(0, was.becomes.length - was.runs.length) : command({ ...then, runs: '' });
  return front + then.runs;
}

// plan puts what would be changed beside what is there: per file, the command of
// each entry before and after, and those that are left alone.
export function plan(client, result) {
  return result.changes.map((change) => {
    const before = client.files.find((file) => file.path === change.path)?.entries ?? [];
    const key = ({ path }) => path.join('\n');
    return {
      path: change.path,
      backup: change.backup,
      whole: change.whole,
      problem: change.problem,
      entries: change.entries.map((then) => {
        const was = before.find((one) => key(one) === key(then));
        return { name: nameOf(then), before: was ? command(was) : '', after: afterwards(was, then), alone: then.serena && isOurs(then) ? then.alone : '' };
      }),
      left: change.left.map((one) => ({ name: nameOf(one), why: one.why })),
    };
  });
}

// isNothing tells whether no file would be changed.
export function isNothing(files) {
  return files.every((file) => file.problem || file.entries.length === 0 && !file.whole);
}

// expected is what of a preview its order is held to: the sum of each file that
// would be changed. Another file, or one that is not as it was, stays as it is.
export function expected({ changes }) {
  return Object.fromEntries(changes.filter((one) => !one.problem).map((one) => [one.path, one.sum]));
}

// restarts says who sees a change only later.
export function restarts(names) {
  if (names.length === 0) return '';
  return names.length === 1
    ? `${names[0]} runs now and sees this only when you start it again.`
    : `${names.slice(0, -1).join(', ')} and ${names.at(-1)} run now and see this only when you start them again.`;
}

// trouble is what is wrong with one file, with its name.
export function trouble({ path, problem }) {
  return problem.includes(path) ? problem : `${path}: ${problem}`;
}

// outcome tells what was done: {text, kind}. After undo a backup is not named: it
// may have gone with what it was for, and the card of the client names one that is
// there.
export function outcome(result, { undo = false } = {}) {
  const sentences = [...(result.notes ?? [])];
  for (const change of result.changes.filter((one) => !one.problem)) {
    const names = change.entries.map(nameOf).join(', ');
    if (names) sentences.push(undo ? `Taken out of ${change.path}: ${names}.` : `Changed in ${change.path}: ${names}.`);
    if (change.whole) sentences.push(names ? 'The file is as it was before.' : `${change.path} is as it was before.`);
    else if (change.backup && names && !undo) sentences.push(`The file from before is ${change.backup}.`);
    if (change.kept.length > 0) sentences.push(`An older text of it stays in ${change.kept.join(', ')}.`);
  }
  const done = result.changes.some((one) => one.written || !one.problem && (one.entries.length > 0 || one.whole || one.kept.length > 0));
  const problems = result.changes.filter((one) => one.problem);
  for (const one of problems) sentences.push(one.written ? sentence(trouble(one)) : `Nothing was done here: ${trouble(one)}`);
  for (const one of result.changes.flatMap((change) => change.left)) if (one.why) sentences.push(`${nameOf(one)} is left alone. ${sentence(one.why)}`);
  if (done) sentences.push(restarts(result.running));
  const text = sentences.filter(Boolean).join(' ');
  return { text: text || 'There was nothing to change.', kind: problems.length > 0 ? 'bad' : done ? 'good' : 'plain' };
}
