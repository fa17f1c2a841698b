import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  command, expected, isFound, isNothing, isOurs, markOf, mayQuiet, nameOf, notes, offers, outcome, plan, restarts, standing, staysAlone, summary, trouble, wordOf,
} from '../page/clients.js';

const connect = '/opt/lamplighter/lamplighter-connect connect -- ';
const runs = 'serena start-mcp-server --context codex';
const entry = (more = {}) => ({
  name: 'serena', path: ['mcpServers', 'serena'], line: 3, state: 'direct', serena: true, off: false, runs, becomes: connect + runs,
  why: '', alone: '', missing: '', opens_page: false, page_stops: false, ...more,
});
const shared = (more = {}) => entry({ state: 'shared', becomes: '', ...more });
const other = (more = {}) => entry({ name: 'memory', path: ['mcpServers', 'memory'], serena: false, runs: 'npx memory', becomes: '', ...more });
const file = (entries, more = {}) => ({ path: '/home/u/.codex/config.toml', scope: 'user', exists: true, problem: '', entries, changed: null, backup: '', ...more });
const client = (files, more = {}) => ({ id: 'codex', name: 'Codex', running: [], files, ...more });
const changed = (entries, more = {}) => ({ client: 'Codex', path: '/home/u/.codex/config.toml', entries, left: [], backup: '', kept: [], whole: false, problem: '', ...more });
const result = (changes, more = {}) => ({ changes, running: [], page: false, ...more });

test('a mark for each state, and for one of a later version', () => {
  const table = { direct: 'direct', shared: 'shared', other: 'other', gone: 'gone', remote: 'remote', odd: 'odd', later: 'odd', toString: 'odd' };
  for (const [state, mark] of Object.entries(table)) assert.equal(markOf(entry({ state })), mark, state);
  assert.equal(markOf(other()), 'plain');
  assert.equal(markOf(shared({ alone: 'its context codex can change the project' })), 'alone');
  assert.equal(markOf(other({ state: 'shared', alone: 'it is not a Serena' })), 'alone');
  assert.equal(wordOf(shared({ alone: 'its context codex can change the project' })), 'alone');
  assert.equal(wordOf(entry({ alone: 'its context codex can change the project' })), 'direct');
  for (const one of [entry(), other(), shared(), entry({ state: 'later' })]) assert.equal(wordOf(one), one.state);
  for (const [state, ours] of Object.entries({ direct: false, shared: true, other: true, gone: true, remote: false, odd: false })) assert.equal(isOurs({ state }), ours, state);
});

test('an entry is named with the folder that it counts for', () => {
  assert.equal(nameOf(entry()), 'serena');
  assert.equal(nameOf(entry({ path: ['projects', '/src/a', 'mcpServers', 'serena'] })), 'serena for /src/a');
  assert.equal(nameOf(entry({ path: ['projects', 'C:\\src', 'mcpServers', 'serena'] })), 'serena for C:\\src');
  assert.equal(nameOf(entry({ name: '@a/b', path: ['mcpServers', '@a/b'] })), '@a/b');
  assert.equal(nameOf(entry({ path: [] })), 'serena');
});

test('what else there is to say of an entry', () => {
  for (const [more, want] of [
    [{}, []],
    [{ state: 'gone', broken: 'is a directory' }, ['The lamplighter-connect that it runs is a directory, so it cannot start.']],
    [{ state: 'other', why: 'Because.' }, ['It runs the lamplighter-connect of another installation.', 'Because.']],
    [{ missing: 'serena' }, ['Its program serena is not found.']],
    [{ missing: 'serena', why: 'Its program serena is not found. Install it.' }, ['Its program serena is not found. Install it.']],
    [{ alone: 'its context codex can change the project' }, ['It cannot be shared, so its server is its own: its context codex can change the project.']],
    [{ alone: 'it is no Serena', serena: false }, []],
    [{ opens_page: true }, ['Serena’s own page opens for every server.']],
  ]) assert.deepEqual(notes(entry(more)), want, JSON.stringify(more));
});

test('how a client stands', () => {
  for (const [files, want] of [
    [[file([])], 'no Serena'],
    [[file([other()])], 'no Serena'],
    [[file([], { problem: 'It is not valid JSON.' })], 'cannot be read'],
    [[file([entry()])], 'its Serena is not shared'],
    [[file([shared(), other()])], 'its Serena is shared'],
    [[file([shared({ alone: 'it is' })])], 'its Serena runs through Lamplighter, alone'],
    [[file([shared()]), file([shared()])], 'all 2 Serenas are shared'],
    [[file([shared(), entry()]), file([shared({ state: 'gone' })])], '1 of 3 Serenas are shared'],
  ]) assert.equal(standing(client(files)), want);
  assert.equal(summary([]), '');
  assert.equal(summary([client([file([], { exists: false })])]), '');
  assert.equal(summary([client([file([other()])])]), '1 client, no Serena');
  assert.equal(summary([client([file([entry()])]), client([file([shared()])]), client([])]), '2 clients, 1 of 2 Serenas shared');
});

test('a client is found by its files', () => {
  const there = file([]);
  const absent = file([], { exists: false });
  assert.equal(isFound(client([absent])), false);
  assert.equal(isFound(client([absent, there])), true);
});

test('only what makes sense is offered', () => {
  for (const [entries, want, more] of [
    [[], { share: false, undo: false, quiet: false }],
    [[other()], { share: false, undo: false, quiet: false }],
    [[entry()], { share: true, undo: false, quiet: false }],
    [[entry({ becomes: '', missing: 'serena', opens_page: true })], { share: false, undo: false, quiet: false }],
    [[shared()], { share: false, undo: true, quiet: false }],
    [[shared(), entry({ opens_page: true })], { share: true, undo: true, quiet: false }],
    [[shared({ alone: 'it is', opens_page: true, page_stops: true })], { share: false, undo: true, quiet: true }],
    [[entry({ state: 'gone' })], { share: true, undo: true, quiet: false }],
    [[other()], { share: false, undo: true, quiet: false }, { changed: '2026-11-22T12:00:00Z' }],
  ]) assert.deepEqual(offers(client([file(entries, more)])), want, JSON.stringify(entries.map((one) => one.state)));
  assert.equal(mayQuiet(client([file([entry()])])), false);
  assert.equal(mayQuiet(client([file([entry({ opens_page: true, alone: 'it is' })])])), false);
  assert.equal(mayQuiet(client([file([entry(), entry({ page_stops: true })])])), true);
});

test('what cannot be shared is not offered to be', () => {
  const alone = entry({ alone: 'its context codex can change the project' });
  for (const [entries, want] of [
    [[], false], [[entry()], false], [[alone], true], [[alone, other()], true], [[alone, entry()], false], [[alone, entry({ state: 'gone', serena: false })], false],
    [[shared({ alone: 'it is' })], false],
  ]) assert.equal(staysAlone(client([file(entries)])), want, JSON.stringify(entries));
});

test('the plan has the commands before and after', () => {
  const quiet = `${runs} --open-web-dashboard false`;
  for (const [was, then, before, after] of [
    [entry(), shared(), runs, connect + runs],
    [entry(), shared({ runs: quiet }), runs, connect + quiet],
    [shared(), entry({ becomes: '' }), `lamplighter-connect connect -- ${runs}`, runs],
    [shared(), shared({ runs: quiet }), `lamplighter-connect connect -- ${runs}`, `lamplighter-connect connect -- ${quiet}`],
    [entry({ runs: `cmd /c ${runs}` }), shared(), `cmd /c ${runs}`, `lamplighter-connect connect -- ${runs}`],
    [entry({ path: ['elsewhere', 'serena'] }), shared(), '', `lamplighter-connect connect -- ${runs}`],
  ]) {
    const [first] = plan(client([file([other(), was])]), result([changed([then])]));
    assert.deepEqual(first.entries, [{ name: 'serena', before, after, alone: '' }]);
  }
  const none = plan(client([file([entry()])]), result([changed([], { left: [other({ why: 'Because.' })] })]));
  assert.deepEqual(none[0].left, [{ name: 'memory', why: 'Because.' }]);
  assert.equal(isNothing(none), true);
  assert.equal(isNothing([]), true);
  assert.equal(isNothing(plan(client([]), result([changed([shared()], { problem: 'It is read-only.' })]))), true);
  assert.equal(isNothing(plan(client([]), result([changed([], { whole: true })]))), false);
  assert.equal(isNothing(plan(client([]), result([changed([]), changed([shared()])]))), false);
});

test('an order is held to what was shown', () => {
  assert.deepEqual(expected(result([])), {});
  assert.deepEqual(expected(result([changed([shared()], { sum: 'a' }), changed([], { path: '/b', sum: 'b', problem: 'It is read-only.' }), changed([], { path: '/c', sum: 'c', whole: true })])), {
    '/home/u/.codex/config.toml': 'a', '/c': 'c',
  });
});

test('what was done is told with what to do next', () => {
  const path = '/home/u/.codex/config.toml';
  const backup = `${path}.lamplighter-backup`;
  for (const [made, undo, text, kind] of [
    [result([]), false, 'There was nothing to change.', 'plain'],
    [result([changed([shared()], { backup })], { running: ['Codex'] }), false, `Changed in ${path}: serena. The file from before is ${backup}. Codex runs now and sees this only when you start it again.`, 'good'],
    [result([changed([shared()], { backup, kept: [`${backup}-2`] })]), false, `Changed in ${path}: serena. The file from before is ${backup}. An older text of it stays in ${backup}-2.`, 'good'],
    [result([changed([entry()], { backup })]), true, `Taken out of ${path}: serena.`, 'good'],
    [result([changed([entry()], { whole: true })]), true, `Taken out of ${path}: serena. The file is as it was before.`, 'good'],
    [result([changed([], { whole: true })]), true, `${path} is as it was before.`, 'good'],
    [result([changed([], { problem: 'It is read-only.' })], { running: ['Codex'] }), false, `Nothing was done here: ${path}: It is read-only.`, 'bad'],
    [result([changed([shared()]), changed([], { path: '/b', problem: '/b is not valid JSON.' })]), false, `Changed in ${path}: serena. Nothing was done here: /b is not valid JSON.`, 'bad'],
    [result([changed([], { left: [other({ why: 'it is no Serena' })] })]), false, 'memory is left alone. It is no Serena.', 'plain'],
  ]) assert.deepEqual(outcome(made, { undo }), { text, kind });
  assert.equal(trouble({ path: '/b', problem: 'It is read-only.' }), '/b: It is read-only.');
  assert.equal(restarts([]), '');
  assert.equal(restarts(['A', 'B', 'C']), 'A, B and C run now and see this only when you start them again.');
  assert.equal(command(entry({ state: 'remote', runs: 'https://example.com/mcp' })), 'https://example.com/mcp');
});
