// @ts-check
// Workspaces, and what is done to them, in words. Pure.

import { count, duration, ended, isNumber, moment, plural, sentence, size } from './format.js';

// progressWords say how far something has come.
export function progressWords({ phase, percent, bytes, bytes_total: bytesTotal, files, files_total: filesTotal, left_seconds: left }) {
  if (phase === 'waiting') return 'waiting for a place';
  const words = [];
  if (isNumber(percent)) words.push(`${percent} %`);
  if (bytesTotal > 0) words.push(`${size(bytes)} of ${size(bytesTotal)}`);
  else if (filesTotal > 0) words.push(`${count(files)} of ${plural(filesTotal, 'file', 'files')}`);
  else if (!isNumber(percent) && bytes > 0) words.push(size(bytes));
  else if (!isNumber(percent) && files > 0) words.push(plural(files, 'file', 'files'));
  if (isNumber(left) && percent < 100) words.push(`${duration(left)} left`);
  return [phase ?? 'beginning', words.join(', ')].filter(Boolean).join(': ');
}

// markOf is the mark of a workspace: those of servers that mean the same.
export function markOf({ state, problem }) {
  if (problem) return 'zombie';
  if (state === 'ready') return 'live_with_project';
  return state === 'archived' ? 'parked' : 'ended';
}

// stateOf is its state in a word or two.
export function stateOf({ state, problem }) {
  if (problem) return 'needs attention';
  return { ready: 'ready', ended: 'versions only', archived: 'archived' }[state] ?? 'unknown';
}

const kinds = { temp: 'temporary', persistent: 'persistent', hybrid: 'hybrid' };

export function kindOf({ kind }) {
  return kinds[kind] ?? kind ?? '';
}

// source says what it was made from.
export function source({ source: from }) {
  switch (from?.kind) {
    case 'git':
      return `${from.from ?? from.repository ?? 'a git repository'}${from.ref ? ` at ${from.ref}` : ''}`;
    case 'directory':
      return `a copy of ${from.from ?? 'a directory'}`;
  }
  return 'nothing';
}

// summary is how all stand.
export function summary(list, making) {
  if (list.length === 0 && making.length === 0) return 'none yet';
  const words = [plural(list.length, 'workspace', 'workspaces')];
  const attention = list.filter((one) => one.problem).length;
  if (attention > 0) words.push(plural(attention, 'needs attention', 'need attention'));
  if (making.length > 0) words.push(`${count(making.length)} being worked on`);
  const bytes = list.reduce((sum, one) => sum + (one.size_bytes ?? 0), 0);
  if (bytes > 0) words.push(size(bytes));
  return words.join(', ');
}

const time = (value) => Number(moment(value) ?? 0);

// sorted puts first what needs attention, and then what is newest.
export function sorted(list) {
  return list.toSorted((a, b) => Number(Boolean(b.problem)) - Number(Boolean(a.problem)) || time(b.created_at) - time(a.created_at) || (a.id < b.id ? 1 : -1));
}

// matching are those that have all words of a text somewhere.
export function matching(list, text) {
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return list;
  return list.filter((one) => {
    const all = [one.job, one.project, one.name, one.path, one.id, kindOf(one), stateOf(one), one.problem, one.source?.branch].join(' ').toLocaleLowerCase();
    return words.every((word) => all.includes(word));
  });
}

// offers are the changes that make sense for a workspace.
export function offers({ kind, state }) {
  return { keep: kind !== 'temp' && state === 'ready', archive: state === 'ready', restore: state === 'archived', versions: kind !== 'temp', remove: true };
}

// verdict tells what a removal means, by its dry run and, where something stands
// against that, by another one with force: {kind, why}. kind is 'fine', 'loss', where only force
// helps, or 'refused', where nothing does.
export function verdict(usual, forced) {
  if (!usual.why) return { kind: 'fine', why: '' };
  if (forced && !forced.why) return { kind: 'loss', why: '' };
  return { kind: 'refused', why: (forced ?? usual).why };
}

// losses are what would be lost, as lines, and the sentence for all of it.
export function losses(loss) {
  if (!loss) return { words: '', lines: [] };
  const lines = [
    ...(loss.commits ?? []).map((text) => ({ what: 'commit', text })),
    ...(loss.uncommitted ?? []).map((text) => ({ what: 'file', text })),
    ...(loss.submodules ?? []).map((text) => ({ what: 'submodule', text })),
  ];
  if (loss.more > 0) lines.push({ what: '', text: `and ${plural(loss.more, 'more file', 'more files')}` });
  const words = loss.words || (loss.unknown ? `What would be lost could not be found out: ${loss.unknown}` : '');
  return { words, lines };
}

// removed tells what was done: {text, kind}.
export function removed(outcome, name) {
  if (!outcome.done) return { text: `${name} was not removed. ${sentence(outcome.why || outcome.error || 'nobody said why')}`, kind: 'bad' };
  const freed = outcome.freed_bytes > 0 ? ` ${sentence(`${size(outcome.freed_bytes)} freed`)}` : '';
  return { text: `${name}: ${ended(outcome.what || 'removed')}${freed}${outcome.kept ? ` What stays: ${ended(outcome.kept)}` : ''}`, kind: 'good' };
}

// whats are the ways in which a file differs.
export const whats = { added: 'added', removed: 'removed', changed: 'changed', mode: 'permissions changed' };

// changesWords say how much differs.
export function changesWords(changes) {
  if (changes.length === 0) return 'Nothing differs.';
  const parts = Object.keys(whats).map((what) => [what, changes.filter((one) => one.what === what).length]).filter(([, n]) => n > 0);
  return `${plural(changes.length, 'file differs', 'files differ')}: ${parts.map(([what, n]) => `${count(n)} ${whats[what]}`).join(', ')}.`;
}

// diffLines are the lines of a unified diff with their kind.
export function diffLines(text) {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    const kind = /^(\+\+\+|---) /.test(line) || line.startsWith('@@') ? 'head' : line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : '';
    return { kind, line };
  });
}

// found is what a scan came to, in a line.
export function found({ worktrees }) {
  if (worktrees.length === 0) return 'No worktrees besides the main ones.';
  const stale = worktrees.filter((one) => one.removable);
  const bytes = stale.reduce((sum, one) => sum + (one.size_bytes > 0 ? one.size_bytes : 0), 0);
  return `${plural(worktrees.length, 'worktree', 'worktrees')}; ${count(stale.length)} can be removed with nothing lost${bytes > 0 ? `, ${size(bytes)}` : ''}.`;
}

// traits are what there is to say of a worktree, in short.
export function traits(one) {
  return [
    one.made_by && `made by ${one.made_by}`,
    one.branch ? `branch ${one.branch}` : 'no branch',
    one.missing ? 'its directory has gone' : size(one.size_bytes),
    one.dirty && 'has changes', one.merged && 'merged', one.pushed && 'pushed', one.locked && (one.locked_reason ? `locked: ${one.locked_reason}` : 'locked'),
    one.in_use?.length > 0 && 'in use', one.workspace_id && 'a workspace of yours',
  ].filter(Boolean);
}
