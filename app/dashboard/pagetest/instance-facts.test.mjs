import assert from 'node:assert/strict';
import test from 'node:test';

import { Drafts, changed, conflict, nameTrouble, ordered } from '../page/drafts.js';
import { executedAt, outcomeOf } from '../page/execution.js';
import { activity, askable, everything, headline, idleSince } from '../page/facts.js';
import { clockTime } from '../page/format.js';
import { answered, kept } from '../page/kept.js';
import { beside } from '../page/subtabs.js';

const nothing = {
  id: '7-1', pid: 7, port: null, kind: 'filesystem', label: '7 - filesystem', project_name: null, project_root: null, context: null, modes: [], version: null, state: 'live_no_project', cause: null, reason: null,
  started_at: null, last_heartbeat: null, last_activity: null, busy: null, idle_seconds: null, shutdown_at: null, tool_calls: null, rss_bytes: null, cpu_percent: null, processes: null, client: null, dashboard_url: null, mcp_url: null,
  managed: false, shared_by: null, pinned: false,
};
const at = new Date('2026-11-20T14:30:00Z');

test('nothing unknown is told', () => {
  assert.deepEqual(headline(nothing), [['pid', '7']]);
  assert.deepEqual(everything(nothing), [['Kind', 'filesystem'], ['Process', '7']]);
});

test('a zero that was measured is told', () => {
  const names = headline({ ...nothing, tool_calls: 0, cpu_percent: 0 }).map(([name, value]) => `${name} ${value}`);
  assert.deepEqual(names, ['CPU 0.0 %', 'calls 0', 'pid 7']);
});

test('whom a managed server is for', () => {
  const managed = { ...nothing, managed: true, client: { name: 'curl', pid: 9 } };
  assert.deepEqual(headline(managed)[0], ['managed', 'for curl', 'process 9']);
  assert.deepEqual(headline({ ...managed, client: null })[0].slice(0, 2), ['managed', 'by lamplighter']);
  const facts = new Map(everything(managed));
  assert.equal(facts.get('Asked for by'), 'curl (process 9)');
  assert.equal(facts.get('Managed'), 'yes, lamplighter started it');
  assert.equal(facts.has('Client'), false);
  assert.equal(activity({ ...managed, client: { name: 'curl', pid: 9 } }, { at, now: at }).text, 'nothing planned', 'it does not end with who asked');
});

test('idle since', () => {
  assert.equal(idleSince(nothing, at), null);
  assert.equal(idleSince({ ...nothing, busy: true, idle_seconds: 0 }, at), null);
  assert.deepEqual(idleSince({ ...nothing, idle_seconds: 60 }, at), new Date('2026-11-20T14:29:00Z'));
  assert.deepEqual(idleSince({ ...nothing, idle_seconds: 60, last_activity: '2026-11-20T14:28:00Z' }, at), new Date('2026-11-20T14:28:00Z'));
});

test('what it does and what will happen', () => {
  const told = (fields, ending) => activity({ ...nothing, ...fields }, { at, now: at, ending });
  const clock = clockTime('2026-11-20T14:02:00Z', at);
  const same = (given, text, more = {}) => assert.deepEqual(told(...given), { text, at: null, because: '', ...more });
  const idle = { busy: false, idle_seconds: 1680, last_activity: '2026-11-20T14:02:00Z' };
  same([{}], 'nothing planned');
  same([idle], `idle since ${clock}, nothing planned`);
  same([{ busy: false, idle_since: '2026-11-20T14:02:00Z' }], `idle since ${clock} at least, nothing planned`);
  same([{ ...idle, idle_since: '2026-11-20T14:10:00Z' }], `idle since ${clock}, nothing planned`);
  same([{ ...idle, shutdown_at: 'T', shutdown_reason: 'no call for 30 min' }], `idle since ${clock}, will shut down`, { at: 'T', because: ', because no call for 30 min' });
  same([{ ...idle, kept_until: '2026-11-20T14:02:00Z' }], `idle since ${clock}, kept until ${clock}`);
  same([{ busy: true }], 'busy');
  same([{ busy: true, shutdown_at: 'T' }], 'busy, will shut down', { at: 'T' });
  assert.equal(told({ ...idle, state: 'zombie', reason: 'r' }).text, '', 'the header has the reason already');
  assert.equal(told({ ...idle, state: 'zombie' }, 'stopping…').text, 'stopping…');
  same([{ state: 'zombie', shutdown_at: 'T', shutdown_reason: 'orphaned for 10 min' }], 'will shut down', { at: 'T', because: ', because orphaned for 10 min' });
  same([{ state: 'zombie', kept_until: '2026-11-20T14:02:00Z' }], `kept until ${clock}`);
});

test('the day is told when it is another one', () => {
  assert.equal(clockTime('2026-11-20T14:02:00Z', at).includes('2026'), false);
  assert.equal(clockTime('2026-11-17T14:02:00Z', at).includes('2026'), true);
  assert.equal(clockTime('2026-11-21T14:29:00Z', at).includes('2026'), false, 'the next that comes');
  assert.equal(clockTime('2026-11-21T14:30:00Z', at).includes('2026'), true);
  assert.equal(clockTime(null, at), '');
});

test('who can be asked', () => {
  const serena = { ...nothing, kind: 'serena', port: 24282, dashboard_url: 'http://127.0.0.1:24282/dashboard/index.html' };
  assert.equal(askable(serena), true);
  for (const change of [{ port: null }, { dashboard_url: null }, { state: 'parked' }, { cause: 'defunct' }]) assert.equal(askable({ ...serena, ...change }), false, JSON.stringify(change));
});

test('the outcome of an execution', () => {
  assert.equal(outcomeOf({ success: true }, true).words, 'Succeeded');
  assert.equal(outcomeOf({ success: false }, false).words, 'Failed or cancelled');
  assert.equal(outcomeOf({ success: false }, true).words, 'Cancelled');
  assert.equal(outcomeOf({ success: null }, false).words, 'Finished');
  assert.equal(executedAt({ seen: null }, { last_activity: 'T' }), 'T');
  assert.equal(executedAt({ seen: at }, { last_activity: 'T' }), at);
});

test('drafts and what became of the memory meanwhile', () => {
  const drafts = new Drafts();
  assert.equal(drafts.get('a', 'm'), null);
  drafts.set('a', 'm', { base: 'x', text: 'x' });
  assert.equal(drafts.unsaved(), false);
  drafts.set('a', 'm', { base: 'x', text: 'y' });
  assert.equal(drafts.unsaved(), true);
  assert.equal(drafts.get('b', 'm'), null, 'of another instance');
  drafts.move('a', 'm', 'n');
  assert.equal(drafts.get('a', 'm'), null);
  assert.deepEqual(drafts.get('a', 'n'), { base: 'x', text: 'y' });
  drafts.delete('a', 'n');
  assert.equal(drafts.unsaved(), false);
  assert.equal(changed(null), false);
  assert.equal(changed({ base: null, text: '' }), false);
  for (const [base, text, now, want] of [
    ['x', 'y', 'x', false], ['x', 'y', 'z', true], ['x', 'y', 'y', false], ['x', 'y', null, true], [null, 'y', null, false], [null, 'y', 'z', true],
  ]) assert.equal(conflict({ base, text }, now), want, JSON.stringify([base, text, now]));
});

test('names of memories', () => {
  for (const good of ['a', 'topic/name', ' global/java/style ']) assert.equal(nameTrouble(good, ['b']), '', good);
  for (const bad of ['../a', 'a/./b']) assert.equal(nameTrouble(bad, []), 'A name cannot contain . or .. as a part.');
  for (const bad of ['', ' ', '/a', 'a/', 'a//b', '../a', 'a/./b', 'b']) assert.notEqual(nameTrouble(bad, ['b']), '', bad);
  assert.deepEqual(ordered(['b/z', 'a/x/y', 'c', 'a/b', 'a']), ['a', 'c', 'a/b', 'a/x/y', 'b/z']);
});

test('keys within the tabs pass what is not offered', () => {
  const offered = [true, false, true, true, false];
  for (const [key, from, to] of [['ArrowRight', 0, 2], ['ArrowRight', 3, 0], ['ArrowLeft', 0, 3], ['Home', 3, 0], ['End', 0, 3], ['x', 0, null]]) assert.equal(beside(key, from, offered), to, `${key} ${from}`);
});

test('answers are kept for the instances looked at last', () => {
  kept('first').stats = { value: [], at, trouble: null };
  assert.equal(answered('first'), true);
  for (let i = 0; i < 59; i++) kept(`other ${i}`);
  kept('first');
  kept('one more');
  assert.equal(answered('first'), true, 'it was looked at again');
  for (let i = 0; i < 60; i++) kept(`more ${i}`);
  assert.equal(answered('first'), false);
  assert.equal(answered('other 3'), false);
});
