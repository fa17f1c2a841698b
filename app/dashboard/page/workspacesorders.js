// What can be done to a workspace, or to a worktree that was found. What would be
// lost is asked for and shown before anything is removed.

import { confirm, prompt, tell } from './dialog.js';
import { h } from './dom.js';
import { ended, sentence } from './format.js';
import { Failure, get, send } from './http.js';
import { announce, say } from './notice.js';
import { changeWord, changesWords, diffLines, freedWords, losses, removed, size, user, verdict } from './workspaces.js';

const long = 600_000; // ms: what is large takes its time

const pathOf = (one, rest = '') => `/workspaces/${encodeURIComponent(one.id)}${rest}`;
const nameOf = (one) => one.job || one.name || one.path;

// attempt does something and says what was wrong with it; the result tells
// whether it was done.
async function attempt(run) {
  try {
    await run();
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    say(sentence(error.message), { kind: 'bad' });
    return false;
  }
}

// keep asks for a message and keeps the tree as a version.
export async function keep(one) {
  const message = await prompt({
    title: `Keep a version of ${nameOf(one)}`, label: 'What is it, in a few words?', action: 'Keep',
    check: (text) => (text.trim() === '' ? 'Say in a few words what this version is.' : ''),
  });
  if (message === null) return false;
  return attempt(async () => {
    const version = await send('POST', pathOf(one, '/keep'), { message: message.trim() }, { limit: long });
    say(`Kept as version ${version.version}: ${nameOf(one)}.`, { kind: 'good' });
  });
}

// archive packs one away.
export async function archive(one) {
  const body = h('div', null, h('p', null, 'All of it, with its versions, is packed into one file, and its directory goes. It can be restored from there.'), pathLine(one.path));
  if (!await confirm({ title: `Archive ${nameOf(one)}?`, body, action: 'Archive' })) return false;
  return attempt(async () => {
    const now = await send('POST', pathOf(one, '/archive'), {}, { limit: long });
    say(`Archived: ${nameOf(one)}.${now.archive ? ` ${size(now.archive.bytes)} in ${now.archive.path}` : ''}`, { kind: 'good' });
  });
}

// restore brings an archived one back, or puts a version into its directory.
export async function restore(one, version = null) {
  const body = version
    ? h('div', null, h('p', { dir: 'auto' }, `Version ${version.version}: ${version.message}`), h('p', null, 'Its directory gets the content of that version. What is there now is kept as a version before, if it differs from the last one.'))
    : h('div', null, h('p', null, 'It is unpacked to where it was.'), pathLine(one.path));
  if (!await confirm({ title: version ? `Put version ${version.version} of ${nameOf(one)} back?` : `Restore ${nameOf(one)}?`, body, action: 'Restore' })) return false;
  return attempt(async () => {
    await send('POST', pathOf(one, '/restore'), version ? { version: version.version } : {}, { limit: long });
    say(version ? `Version ${version.version} is back: ${nameOf(one)}.` : `Restored: ${nameOf(one)}.`, { kind: 'good' });
  });
}

// remove takes a workspace away.
export function remove(one) {
  return removal({
    name: nameOf(one), path: one.path, versions: one.version_count ?? 0,
    ask: (query) => send('DELETE', pathOf(one, query), undefined, { limit: long }),
  });
}

// removeWorktree takes a worktree away that a scan has found.
export function removeWorktree(one) {
  return removal({
    name: one.branch || one.path, path: one.path, versions: 0,
    ask: (query) => send('POST', '/workspaces/scan/remove', { path: one.path, force: query.includes('force=true'), dry_run: query.includes('dry_run=true') }, { limit: long }),
  });
}

// outcome is what is answered, also where something stands against it.
async function outcome(asked) {
  try {
    return await asked;
  } catch (error) {
    const answer = error instanceof Failure && error.status === 409 ? error.answer : null;
    if (answer?.what === undefined) throw error;
    return { ...answer, why: answer.why || answer.error };
  }
}

async function removal({ name, path, versions, ask }) {
  announce(`Looking what would be lost with ${name}`);
  let done = false;
  await attempt(async () => {
    const usual = await outcome(ask('?dry_run=true'));
    const forced = usual.why ? await outcome(ask('?dry_run=true&force=true')) : null;
    const { kind, why } = verdict(usual, forced);
    if (kind === 'refused') {
      await tell({ title: `${name} cannot be removed now`, body: refused(forced ?? usual, why, path), kind: 'dialog-workspace' });
      return;
    }
    const body = planned(usual, { path, versions, kind });
    const title = `Remove ${name}?`;
    if (!await confirm({ title, body, action: kind === 'loss' ? 'Remove all the same…' : 'Remove', danger: true })) return;
    if (kind === 'loss' && !await confirm({ title: `Lose this work of ${name}?`, body: lost(usual), action: 'Remove and lose it', danger: true, cancel: 'Keep it' })) return;
    const { text, kind: told } = removed(await outcome(ask(kind === 'loss' ? '?force=true' : '')), name);
    say(text, { kind: told });
    done = told === 'good';
  });
  return done;
}

function planned(result, { path, versions, kind }) {
  return h('div', null, pathLine(path),
    kind === 'loss' ? lossOf(result.loss) : h('p', null, 'Nothing would be lost that is not elsewhere or temporary.'),
    versions > 0 && h('p', { class: 'loss' }, `Its ${versions === 1 ? 'version goes' : `${versions} versions go`} with it.`),
    result.freed_bytes > 0 && h('p', null, sentence(`${freedWords(result.freed_bytes)} would be given back`)),
    result.kept && h('p', { dir: 'auto' }, `What stays: ${ended(result.kept)}`));
}

function lossOf(loss) {
  const { words, lines } = losses(loss);
  return [
    h('p', { class: 'loss', dir: 'auto' }, `Would be lost: ${ended(words || 'work that is nowhere else')}`),
    lines.length > 0 && h('ul', { class: 'workspace-losses', tabindex: 0, 'aria-label': 'What would be lost' }, lines.map(({ what, text }) => h('li', null, what && h('span', { class: 'muted' }, `${what} `), h('span', { class: 'mono', dir: 'auto' }, text)))),
  ];
}

function lost(result) {
  const { words } = losses(result.loss);
  return h('div', null, h('p', { class: 'loss', dir: 'auto' }, sentence(words || 'work that is nowhere else')), h('p', null, 'Nobody can bring it back.', result.kept && ` What stays: ${ended(result.kept)}`));
}

function refused(result, why, path) {
  const users = result.in_use ?? [];
  return h('div', null, pathLine(path),
    users.length > 0
      ? [h('p', null, 'Somebody works inside. End that first.'), h('ul', { class: 'evidence', dir: 'auto' }, users.map((one) => h('li', null, user(one))))]
      : h('p', { dir: 'auto' }, sentence(why)));
}

function pathLine(path) {
  return h('p', { class: 'mono workspace-path', dir: 'ltr' }, path);
}

// compare shows what differs from one version to another, 0 for the tree.
export async function compare(one, from, to = 0) {
  await attempt(async () => {
    const diff = await get(pathOf(one, `/diff?from=${from}&to=${to}`), { limit: long });
    const changes = diff?.changes ?? [];
    await tell({
      title: to === 0 ? `What changed in ${nameOf(one)} since version ${from}` : `What changed in ${nameOf(one)} from version ${from} to ${to}`,
      kind: 'dialog-workspace', body: h('div', null, h('p', null, changesWords(changes)), differences(changes), diff?.left_out > 0 && h('p', { class: 'muted' }, `${diff.left_out} texts are left out, because all of them are too long. lamplighter workspace diff shows them.`)),
    });
  });
}

const mostShown = 200; // files of a comparison

function differences(changes) {
  return [
    changes.slice(0, mostShown).map((one) => h('details', { class: 'workspace-change', open: changes.length <= 3 },
      h('summary', null, h('span', { class: 'workspace-change-word' }, changeWord(one)), ' ', h('span', { class: 'mono', dir: 'auto' }, one.path)),
      one.diff ? h('pre', { class: 'workspace-diff', tabindex: 0, 'aria-label': `Changes of ${one.path}`, role: 'region' }, diffLines(one.diff).map(({ kind, line }) => [h('span', { class: kind && `diff-${kind}` }, line), '\n'])) : h('p', { class: 'muted' }, 'Not shown as text.'))),
    changes.length > mostShown && h('p', { class: 'muted' }, `and ${changes.length - mostShown} more`),
  ];
}

// copy puts a path into the clipboard.
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.', { kind: 'good' });
  } catch {
    say('The browser did not allow to copy. Select the text instead.', { kind: 'bad' });
  }
}
