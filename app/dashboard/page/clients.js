// @ts-check
// The clients: their settings, the servers in them, and what can be changed. It
// looks when it is opened and when it is told to, and not in between. What would be
// changed is asked for and shown before anything is, and what became of it is told.

import { html, useLayoutEffect, useRef, useState } from './preact.js';
import { plural, sentence } from './format.js';
import { get, queued, send } from './http.js';
import { queryOf, useQuery } from './query.js';
import { Mark, Skeleton, Time, attempt, confirm, say, tell } from './ui.js';

async function ask(signal) {
  const answer = await get('setup', { signal });
  return Array.isArray(answer?.clients) ? answer.clients : [];
}

const lookAgain = () => queryOf('setup').refresh();

export function Clients() {
  const { value: clients, at, trouble } = useQuery('setup', ask);
  const found = (clients ?? []).filter(isFound);
  const others = (clients ?? []).filter((one) => !isFound(one));
  return html`<div class="setup">
    <div class="line setup-head"><h2 id="view-title" tabindex="-1">Clients</h2><p class="muted" role="status">${clients && summary(clients)}</p><span class="grow"></span>
      ${at && html`<p class="muted">looked <${Time} at=${at} /></p>`}
      <button type="button" class="small" onClick=${lookAgain}>Look again</button></div>
    <p class="about muted">What your MCP clients start. A Serena that is shared runs once for all clients of a project. Lamplighter changes its command and nothing else, and can take that back.</p>
    <div aria-busy=${String(!clients && !trouble)}>
      ${trouble && html`<p class="problem" role="alert" dir="auto">${sentence(trouble.text)}${clients && ' What is shown is from before.'}</p>`}
      ${!clients && !trouble && html`<div class="card padded"><p class="unseen">Reading the settings</p><${Skeleton} lines=${4} /></div>`}
      <div class="setup-cards">${found.map((client) => html`<${Client} key=${client.id} client=${client} />`)}</div>
      ${clients && found.length === 0 && html`<div class="nothing"><p>No settings of a client were found.</p><p class="muted">Install one of those below, add Serena to it, and look again. For any other file: <code>lamplighter setup --file PATH</code></p></div>`}
      ${others.length > 0 && html`<details class="setup-others muted"><summary>${found.length > 0 ? `Not found: ${others.map((one) => one.name).join(', ')}` : 'Where Lamplighter looks'}</summary>
        <ul>${others.map(({ id, name, files }) => html`<li key=${id}><strong>${name}</strong>${files.map((file) => html`<${Path} path=${file.path} />`)}</li>`)}</ul></details>`}</div></div>`;
}

const Path = ({ path }) => html`<span class="mono path" dir="ltr">${path}</span>`;

// Command is broken between words where it can be: a line that ends within --project
// reads as another option.
const Command = ({ text }) => html`<code dir="ltr">${text.split(' ').map((word, i) => html`${i > 0 && ' '}<span class="setup-argument">${word}</span>`)}</code>`;

// Client is one with its files.
function Client({ client }) {
  const [working, setWorking] = useState(false);
  const head = useRef(/** @type {HTMLElement | null} */ (null));
  const changed = useRef(false);
  const run = async (wish) => {
    if (working) return;
    setWorking(true);
    changed.current = await attempt(() => change(client, wish));
    setWorking(false);
    lookAgain();
  };
  useLayoutEffect(() => { // who has just changed it goes on with how to take that back
    if (changed.current && document.activeElement === document.body) head.current?.querySelector('button')?.focus();
    changed.current = false;
  }, [client]);
  const offered = offers(client);
  const alone = staysAlone(client);
  const button = (key, words, wish, quiet = false) => offered[key] && html`<button type="button" key=${key} class=${quiet ? 'small quiet' : 'small'} aria-disabled=${String(working)} onClick=${() => run(wish)}>${words}<span class="unseen" dir="auto"> ${client.name}</span></button>`;
  return html`<section class="card padded" aria-labelledby=${`client-${client.id}`}>
    <div class="line setup-head" ref=${head}><h3 id=${`client-${client.id}`} dir="auto">${client.name}</h3><p class="muted">${standing(client)}</p>
      ${client.running.length > 0 && html`<span class="tag" title=${`pid ${client.running.join(', ')}`}>runs now${client.running.length > 1 && `, ${client.running.length} times`}</span>`}<span class="grow"></span>
      ${button('share', alone ? 'Run its Serena through Lamplighter…' : 'Share its Serena…', {}, alone)}${button('quiet', 'Keep its page closed…', { quiet: true })}${button('undo', 'Take it out again…', { undo: true })}</div>
    ${client.files.filter((file) => file.exists || file.problem || file.entries.length > 0).map((file) => html`<div class="setup-file" key=${file.path}>
      <p class="muted"><${Path} path=${file.path} /> ${file.scope === 'project' && html`<span class="tag">project</span>`} ${file.changed && html`<span>changed by Lamplighter <${Time} at=${file.changed} /></span>`}</p>
      ${file.note && html`<p class="problem" dir="auto">${file.note}</p>`}
      ${file.problem ? html`<p class="problem" dir="auto">${file.problem}</p>` : file.entries.length === 0 ? html`<p class="muted">It has no MCP servers.</p>`
        : html`<ul class="card rows">${file.entries.map((entry) => html`<li class="setup-entry" data-kind=${markOf(entry)}><${Mark} kind=${markOf(entry)} /><span class="setup-word">${wordOf(entry)}</span>
          <span class="setup-name"><strong dir="auto">${nameOf(entry)}</strong>${entry.off && html` <span class="tag" title="The client is told not to use it">off</span>`}</span>
          <div class="setup-what">${entry.runs && html`<${Command} text=${entry.runs} />`}${notes(entry).map((text) => html`<p class="muted" dir="auto">${text}</p>`)}</div></li>`)}</ul>`}
      ${file.backup && html`<p class="muted">As it was before: <${Path} path=${file.backup} /></p>`}</div>`)}</section>`;
}

const order = (wish) => send('POST', 'setup', wish, { limit: queued });

// change asks about a change of a client's settings and makes it: that its Serena
// is shared, with undo that it no longer is, with quiet that Serena's own page
// stays closed.
async function change(client, { undo = false, quiet = false } = {}) {
  const wish = undo ? { client: client.id, undo } : { client: client.id, no_page: quiet };
  const preview = await order({ ...wish, dry_run: true });
  const files = plan(client, preview);
  const body = html`<div><${Planned} files=${files} result=${preview} undo=${undo} /></div>`;
  if (isNothing(files)) {
    const cannot = files.some((file) => file.problem);
    await tell({ title: cannot ? `The settings of ${client.name} cannot be changed now` : `There is nothing to change for ${client.name}`, body, kind: 'dialog-wide' });
    return;
  }
  const alone = staysAlone(client);
  const title = undo ? `Take Lamplighter out of the settings of ${client.name}?` : quiet ? `Keep Serena’s own page closed for ${client.name}?` : alone ? `Run the Serena of ${client.name} through Lamplighter?` : `Share the Serena of ${client.name}?`;
  const action = undo ? 'Take it out' : quiet ? 'Keep it closed' : alone ? 'Run it through Lamplighter' : 'Share';
  if (!await confirm({ title, action, kind: 'dialog-wide', body })) return;
  const { text, kind } = outcome(await order({ ...wish, expect: expected(preview) }), { undo }); // held to the files as they were shown
  say(text, { kind, stays: kind !== 'plain' });
}

// Planned shows the files and the commands before and after.
function Planned({ files, result, undo }) {
  if (files.length === 0) return html`<p>${undo ? 'Nothing of Lamplighter is in its settings.' : 'Its settings have no Serena that could be shared and is not.'}</p>`;
  const fate = ({ whole }) => (!undo ? 'Everything else in the file stays as it is. The file as it is now is kept beside it.' : whole ? 'The file from before is put back, byte for byte.' : 'Only this is taken out; everything else in the file stays as it is.');
  return html`${(result.notes ?? []).map((note) => html`<p class="problem">${note}</p>`)}
    ${files.map((file) => html`<section class="setup-plan"><h3 class="mono" dir="ltr">${file.path}</h3>
      ${file.problem && html`<p class="problem" dir="auto">${file.problem}</p>`}
      ${file.entries.map((one) => html`${file.entries.length > 1 && html`<p><strong dir="auto">${one.name}</strong></p>`}<dl class="setup-change">
        <dt><span class="unseen">${one.name}, </span>before</dt><dd><${Command} text=${one.before || 'not known'} /></dd><dt><span class="unseen">${one.name}, </span>after</dt><dd><${Command} text=${one.after} /></dd></dl>
        ${one.alone && html`<p class="muted" dir="auto"><strong>${one.name}</strong> cannot be shared, so its server is its own: ${one.alone}.</p>`}`)}
      ${file.left.map((one) => html`<p class="muted" dir="auto"><strong>${one.name}</strong> is left alone. ${sentence(one.why)}</p>`)}
      ${!file.problem && (file.entries.length > 0 || file.whole) && html`<p class="muted">${fate(file)}</p>`}</section>`)}
    ${result.running.length > 0 && html`<p>${restarts(result.running)}</p>`}`;
}

// The settings of clients, and what would become of them, in words. Pure.

// The words of entries are those of `lamplighter setup --list`.
const states = ['direct', 'shared', 'other', 'gone', 'remote', 'odd'];

// markOf is the mark of an entry: a Serena that could be shared and is not is
// told from another server, about which nothing is to be done, and one that is
// shared from one that only runs through lamplighter-connect.
export function markOf({ state, serena, alone }) {
  if (state === 'direct') return serena ? 'direct' : 'plain';
  if (state === 'shared' && alone) return 'alone';
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
