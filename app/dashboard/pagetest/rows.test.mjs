import assert from 'node:assert/strict';
import { test } from 'node:test';

import { match } from '../page/keys.js';
import { arrange, columns, grouped, matches, neighbour, parts, range, sorted, turned } from '../page/overview.js';

const ids = (text) => text.split('');

test('tabs keep their places', () => {
  const table = [
    // before, living, ended, hold, want
    ['', 'abc', '', false, 'abc'],
    ['abc', 'cab', '', false, 'cab'],
    ['abc', 'cab', '', true, 'abc'],
    ['abc', 'cabd', '', true, 'abcd'],
    ['abc', 'c', '', true, 'c'],
    ['abcd', 'acd', 'b', false, 'abcd'],
    ['abcd', 'bcd', 'a', false, 'abcd'],
    ['abcd', 'ad', 'bc', false, 'abcd'],
    ['abcd', 'ad', 'cb', false, 'abcd'],
    ['abcd', 'dac', 'b', false, 'dabc'],
    ['', 'ab', 'xy', false, 'abxy'],
    ['abc', 'abc', 'b', false, 'abc'],
    ['abc', 'ca', 'b', true, 'abc'],
  ];
  for (const [before, living, ended, hold, want] of table) {
    assert.equal(arrange(ids(before), ids(living), ids(ended), hold).join(''), want, `${before} ${living} ${ended} ${hold}`);
  }
});

test('every instance has one tab, whatever comes and goes', () => {
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 0x7fffffff) % n;
  let before = [];
  for (let round = 0; round < 2000; round++) {
    const pool = ids('abcdefgh').filter(() => random(3) > 0).sort(() => random(3) - 1);
    const cut = random(pool.length + 1);
    const [living, ended] = [pool.slice(0, cut), pool.slice(cut)];
    const hold = random(2) === 0;
    const after = arrange(before, living, ended, hold);
    assert.deepEqual([...after].sort(), [...pool].sort());
    if (!hold) assert.deepEqual(after.filter((id) => living.includes(id)), living);
    else assert.deepEqual(after.filter((id) => before.includes(id)), before.filter((id) => pool.includes(id)));
    before = after;
  }
});

test('neighbours and ranges', () => {
  assert.equal(neighbour(ids('abc'), 'c', 1), 'a');
  assert.equal(neighbour(ids('abc'), 'a', -1), 'c');
  assert.equal(neighbour(ids('abc'), null, 1), 'a');
  assert.equal(neighbour([], 'a', 1), undefined);
  assert.deepEqual(range(ids('abcd'), 'c', 'a'), ids('abc'));
  assert.deepEqual(range(ids('abcd'), 'gone', 'b'), ['b']);
});

const instance = (label, more = {}) => ({ id: label, label, state: 'live_with_project', project_name: null, project_root: null, client: null, context: null, modes: [], version: null, pid: 1, port: null, rss_bytes: null, cpu_percent: null, tool_calls: null, idle_seconds: null, busy: null, shutdown_at: null, cause: null, last_activity: null, ...more, words: { title: label, state: 'live', client: '', short: [], why: [], next: null, loses: [], outside: '', ...more.words } });
const labels = (list) => list.map((one) => one.label).join('');

test('sorting leaves what is unknown last and equals in their order', () => {
  const list = [instance('a', { rss_bytes: 5 }), instance('b'), instance('c', { rss_bytes: 9 }), instance('d', { rss_bytes: 5 }), instance('e', { rss_bytes: 0 })];
  assert.equal(labels(sorted(list, null)), 'abcde');
  assert.equal(labels(sorted(list, { key: 'memory', descending: true })), 'cadeb');
  assert.equal(labels(sorted(list, { key: 'memory', descending: false })), 'eadcb');
  assert.equal(labels(sorted(list, { key: 'gone' })), 'abcde');
  const names = [instance('1', { project_name: 'item 10' }), instance('2', { project_name: 'Item 9' }), instance('3', { project_name: 'über' })];
  assert.equal(labels(sorted(names, { key: 'server', descending: false })), '213');
  const states = [instance('1'), instance('2', { state: 'parked' }), instance('3', { state: 'zombie' })];
  assert.equal(labels(sorted(states, { key: 'state', descending: false })), '312');
});

test('every column can sort what is not known at all', () => {
  for (const { key, text } of columns) {
    assert.equal(labels(sorted([instance('a'), instance('b')], { key, descending: true })).length, 2, key);
    assert.equal(typeof (text?.(instance('a')) ?? ''), 'string', key);
  }
});

test('the third press goes back to the order of the list', () => {
  let sort = null;
  const seen = [];
  for (let i = 0; i < 3; i++) seen.push(sort = turned(sort, { key: 'memory', number: true }));
  assert.deepEqual(seen, [{ key: 'memory', descending: true }, { key: 'memory', descending: false }, null]);
  assert.deepEqual(turned({ key: 'memory', descending: true }, { key: 'server' }), { key: 'server', descending: false });
});

test('a filter finds all its words anywhere', () => {
  const one = instance('4711 - Über-größe', { project_root: '/home/ada/src/x', port: 24284, pid: 4711, modes: ['editing'], state: 'zombie', words: { client: 'Claude Code', state: 'suspended' } });
  for (const text of ['', '  ', '242', 'ÜBER', 'claude', 'code 4711', 'ada/src', 'suspended größe']) assert.ok(matches(one, parts(text)), text);
  for (const text of ['beta', 'claude beta', 'pinned', 'editing']) assert.ok(!matches(one, parts(text)), text);
});

test('many are grouped by client or project', () => {
  const list = [instance('1', { words: { client: 'Codex', project: 'b' } }), instance('2'), instance('3', { words: { client: 'Codex', project: 'a' } }), instance('4', { words: { client: 'Claude Code' } })];
  const names = (by) => grouped(list, by).map(({ name, list: some }) => `${name}: ${labels(some)}`);
  assert.deepEqual(names('client'), ['Codex: 13', 'No known client: 2', 'Claude Code: 4']);
  assert.deepEqual(names('project'), ['b: 1', 'No project: 24', 'a: 3']);
  assert.deepEqual(names('none'), [': 1234']);
});

test('keys may follow each other', () => {
  const list = [{ key: 'g o' }, { key: 'o' }, { key: '/' }, { key: '/', late: true }];
  assert.equal(match(list, 'g'), 'more');
  assert.equal(match(list, 'g o'), list[0]);
  assert.equal(match(list, 'o'), list[1]);
  assert.equal(match(list, '/'), list[3]);
  assert.equal(match(list, 'z'), null);
});

test('how the servers were sorted and grouped is kept', async () => {
  const kept = new Map([['lamplighter-sort', '{"key":"memory","descending":true}'], ['lamplighter-groups', '"project"']]);
  globalThis.localStorage = { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text), removeItem: (name) => kept.delete(name) };
  const { grouping } = await import('../page/overview.js?loaded-again');
  assert.equal(grouping.value, 'project');
  assert.deepEqual([...kept], [['lamplighter-sort', '{"key":"memory","descending":true}'], ['lamplighter-groups', '"project"']]);
});
