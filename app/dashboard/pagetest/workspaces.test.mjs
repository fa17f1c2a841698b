import assert from 'node:assert/strict';
import { test } from 'node:test';

import { size } from '../page/format.js';
import {
  changesWords, diffLines, found, kindOf, losses, markOf, matching, offers, progressWords, removed, sorted, source, stateOf, summary, traits, verdict,
} from '../page/workspacewords.js';

const one = (more = {}) => ({
  id: 'a', name: 'alpha-fix-1', path: '/t/alpha-fix-1', kind: 'temp', job: 'fix', project: 'alpha', state: 'ready', source: { kind: 'empty' }, created_at: '2026-11-22T10:00:00Z',
  ends_at: null, ends: 'removed when its job ends', problem: null, size_bytes: null, version_count: 0, ...more,
});
const loss = (more = {}) => ({ uncommitted: [], more: 0, commits: [], changed: false, submodules: [], words: '', ...more });
const stale = (more = {}) => ({ path: '/w', branch: '', made_by: '', size_bytes: 5e6, removable: true, in_use: [], ...more });

test('sizes as on the command line', () => {
  for (const [bytes, want] of [[0, '0 B'], [999, '999 B'], [1000, '1.0 kB'], [9940, '9.9 kB'], [9960, '10 kB'], [999_400, '999 kB'], [999_600, '1.0 MB'], [5e9, '5.0 GB'], [1e18, '1000 PB'], [null, '–'], [-1, '–'], [NaN, '–']]) assert.equal(size(bytes), want, String(bytes));
});

test('progress in words', () => {
  for (const [progress, want] of [
    [{}, 'beginning'],
    [{ phase: 'waiting', percent: 0 }, 'waiting for a place'],
    [{ phase: 'copying', percent: 45, bytes: 1.2e9, bytes_total: 2.6e9, left_seconds: 12 }, 'copying: 45 %, 1.2 GB of 2.6 GB, 10 s left'],
    [{ phase: 'checking out', percent: 0, files: 0, files_total: 50_000, left_seconds: null }, 'checking out: 0 %, 0 of 50,000 files'],
    [{ phase: 'copying', percent: null, bytes: 5e6, bytes_total: null, files: 7, files_total: null }, 'copying: 5.0 MB'],
    [{ phase: 'counting', percent: null, bytes: 0, files: 1 }, 'counting: 1 file'],
    [{ phase: 'packing', percent: 100, bytes: 5, bytes_total: 5, left_seconds: 0 }, 'packing: 100 %, 5 B of 5 B'],
  ]) assert.equal(progressWords(progress), want);
});

test('a mark and a word for each state, also of a later version', () => {
  for (const [more, mark, word] of [
    [{}, 'live_with_project', 'ready'], [{ state: 'ended' }, 'ended', 'versions only'], [{ state: 'archived' }, 'parked', 'archived'], [{ state: 'later' }, 'ended', 'unknown'],
    [{ problem: 'in use' }, 'zombie', 'needs attention'],
  ]) assert.deepEqual([markOf(one(more)), stateOf(one(more))], [mark, word]);
  assert.deepEqual(['temp', 'persistent', 'hybrid', 'later'].map((kind) => kindOf({ kind })), ['temporary', 'persistent', 'hybrid', 'later']);
  for (const [from, want] of [
    [undefined, 'nothing'], [{ kind: 'empty' }, 'nothing'], [{ kind: 'directory', from: '/a' }, 'a copy of /a'], [{ kind: 'git', from: '/r', ref: 'main' }, '/r at main'],
    [{ kind: 'git', repository: '/r/.git' }, '/r/.git'],
  ]) assert.equal(source({ source: from }), want);
});

test('how all stand', () => {
  assert.equal(summary([], []), 'none yet');
  assert.equal(summary([one()], []), '1 workspace');
  assert.equal(summary([], [{}]), '0 workspaces, 1 being worked on');
  assert.equal(summary([one({ problem: 'x', size_bytes: 2e9 }), one({ size_bytes: 5e8 })], []), '2 workspaces, 1 needs attention, 2.5 GB');
});

test('what needs attention comes first, then the newest, and the list stays as it was', () => {
  const list = [
    one({ id: 'a', created_at: '2026-11-22T10:00:00Z' }), one({ id: 'b', created_at: '2026-11-22T12:00:00Z' }),
    one({ id: 'c', created_at: '2026-11-22T11:00:00Z', problem: 'x' }), one({ id: 'd', created_at: '2026-11-22T12:00:00Z' }),
  ];
  assert.equal(sorted(list).map(({ id }) => id).join(''), 'cdba');
  assert.equal(list.map(({ id }) => id).join(''), 'abcd');
});

test('a filter looks for all its words', () => {
  const list = [one(), one({ id: 'b', job: 'GRÖSSE', state: 'archived', source: { branch: 'lamplighter/x' } })];
  for (const [text, want] of [['', 'ab'], ['  ', 'ab'], ['fix', 'ab'], ['ready', 'a'], ['größe', ''], ['grösse archived', 'b'], ['lamplighter/X', 'b'], ['alpha nothing', ''], ['temporary', 'ab'], ['.*', '']]) assert.equal(matching(list, text).map(({ id }) => id).join(''), want, text);
});

test('only what makes sense is offered', () => {
  const all = (more) => Object.entries(offers(one(more))).filter(([, is]) => is).map(([name]) => name).join(' ');
  assert.equal(all({}), 'archive remove');
  assert.equal(all({ kind: 'persistent' }), 'keep archive versions remove');
  assert.equal(all({ kind: 'hybrid', state: 'ended' }), 'versions remove');
  assert.equal(all({ kind: 'temp', state: 'archived' }), 'restore remove');
});

test('what a removal means', () => {
  assert.deepEqual(verdict({ why: '' }, null), { kind: 'fine', why: '' });
  assert.deepEqual(verdict({}, null), { kind: 'fine', why: '' });
  assert.deepEqual(verdict({ why: 'work would be lost' }, {}), { kind: 'loss', why: '' });
  assert.deepEqual(verdict({ why: 'work would be lost' }, { why: 'in use' }), { kind: 'refused', why: 'in use' });
  assert.deepEqual(verdict({ why: 'busy' }, null), { kind: 'refused', why: 'busy' });
  assert.deepEqual(losses(null), { words: '', lines: [] });
  assert.deepEqual(losses(loss({ words: '3 files', uncommitted: ['a', 'b'], more: 1, commits: ['1a2b3c4 fix'], submodules: ['lib'] })), {
    words: '3 files', lines: [{ what: 'commit', text: '1a2b3c4 fix' }, { what: 'file', text: 'a' }, { what: 'file', text: 'b' }, { what: 'submodule', text: 'lib' }, { what: '', text: 'and 1 more file' }],
  });
  assert.equal(losses(loss({ unknown: 'git is not installed' })).words, 'What would be lost could not be found out: git is not installed');
});

test('what was done is told with what stays', () => {
  assert.deepEqual(removed({ done: true, what: 'removed', freed_bytes: 5e6, kept: 'the branch x' }, 'fix'), { text: 'fix: removed. 5.0 MB freed. What stays: the branch x.', kind: 'good' });
  assert.deepEqual(removed({ done: true, what: 'removed', freed_bytes: 2, kept: '' }, 'fix'), { text: 'fix: removed. 2 B freed.', kind: 'good' });
  assert.deepEqual(removed({ done: true, what: '', freed_bytes: 0, kept: '' }, 'fix'), { text: 'fix: removed.', kind: 'good' });
  assert.deepEqual(removed({ done: false, why: 'in use' }, 'fix'), { text: 'fix was not removed. In use.', kind: 'bad' });
  assert.deepEqual(removed({ done: false, error: 'busy' }, 'fix'), { text: 'fix was not removed. Busy.', kind: 'bad' });
});

test('what differs', () => {
  assert.equal(changesWords([]), 'Nothing differs.');
  assert.equal(changesWords([{ what: 'added' }]), '1 file differs: 1 added.');
  assert.equal(changesWords([{ what: 'mode' }, { what: 'added' }, { what: 'mode' }]), '3 files differ: 1 added, 2 permissions changed.');
  assert.deepEqual(diffLines('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n'), [
    { kind: 'head', line: '--- a/x' }, { kind: 'head', line: '+++ b/x' }, { kind: 'head', line: '@@ -1 +1 @@' }, { kind: 'removed', line: '-old' }, { kind: 'added', line: '+new' }, { kind: '', line: ' same' },
  ]);
  assert.deepEqual(diffLines('--x\n'), [{ kind: 'removed', line: '--x' }]);
  assert.deepEqual(diffLines(''), []);
});

test('what a scan has found', () => {
  assert.equal(found({ worktrees: [] }), 'No worktrees besides the main ones.');
  assert.equal(found({ worktrees: [stale(), stale({ removable: false }), stale({ size_bytes: -1 })] }), '3 worktrees; 2 can be removed with nothing lost, 5.0 MB.');
  assert.deepEqual(traits(stale()), ['no branch', '5.0 MB']);
  assert.deepEqual(traits(stale({ made_by: 'Codex', branch: 'fix', dirty: true, merged: true, pushed: true, locked: true, locked_reason: 'mine', in_use: [{}], workspace_id: 'a', missing: true })), [
    'made by Codex', 'branch fix', 'its directory has gone', 'has changes', 'merged', 'pushed', 'locked: mine', 'in use', 'a workspace of yours',
  ]);
});
