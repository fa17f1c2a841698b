import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { changes } from '../page/app.js';
import { connected, dismiss, find, givenUp, gone, lost, order, pending, servers, status, takeSnapshot, takeStatus, woke } from '../page/store.js';

const one = (id, more = {}) => ({ id, label: `${id} - x`, port: null, pid: null, state: 'live_with_project', words: { state: 'suspended' }, ...more });
const minute = 60_000;
const start = Date.now();
const at = (ms) => new Date(start + ms);
const left = () => gone.value.map((ended) => ended.instance.id);

beforeEach(() => {
  takeStatus({ ended: [] }, at(1000 * minute)); // forgets what was there
  takeSnapshot({ instances: [] }, at(1000 * minute));
  takeSnapshot({ instances: [] }, at(2000 * minute));
});

test('one that leaves is kept until lamplighter says why', () => {
  takeSnapshot({ instances: [one('1-1'), one('2-2')] }, at(0));
  takeSnapshot({ instances: [one('2-2')] }, at(1000));
  assert.deepEqual(left(), ['1-1']);
  takeStatus({ ended: [{ instance: one('1-1'), ended_at: at(1000).toISOString(), why: 'it was stopped' }] }, at(1500));
  assert.equal(gone.value[0].why, 'it was stopped');
  takeStatus({ ended: [] }, at(9 * minute));
  assert.deepEqual(left(), ['1-1']);
  takeStatus({ ended: [] }, at(12 * minute));
  assert.deepEqual(left(), []);
});

test('one that leaves and has not ended goes', () => {
  takeSnapshot({ instances: [one('1-1'), one('3-3', { state: 'parked' })] }, at(0));
  takeSnapshot({ instances: [] }, at(1000));
  assert.deepEqual(left(), ['1-1']);
  takeSnapshot({ instances: [] }, at(5000));
  assert.deepEqual(left(), []);
});

test('what happened while lamplighter was away is said as far as it is known', () => {
  takeSnapshot({ instances: [one('1-1')] }, at(0));
  lost('it does not answer');
  assert.equal(connected.value, false);
  takeSnapshot({ instances: [] }, at(minute));
  takeStatus({ ended: [] }, at(2 * minute));
  assert.match(gone.value[0].why, /when lamplighter answered again/);
  assert.equal(connected.value, true);
});

test('a living one has not ended, and a dismissed one stays away', () => {
  const ended = ['1-1', '2-2'].map((id) => ({ instance: one(id), ended_at: at(0).toISOString(), why: '' }));
  takeSnapshot({ instances: [one('1-1')] }, at(0));
  takeStatus({ ended }, at(0));
  assert.deepEqual(left(), ['2-2']);
  dismiss('2-2');
  takeStatus({ ended }, at(0));
  assert.deepEqual(left(), []);
});

test('one that is given up is in no list, has not ended, and is found', () => {
  const dead = (since) => one('1-1', { given_up_since: since });
  takeSnapshot({ instances: [dead(null), one('2-2')], given_up: null }, at(0));
  takeSnapshot({ instances: [dead('2026-11-27T12:00:00Z'), one('2-2')], given_up: { words: '1 given up', ids: ['1-1'] } }, at(1000));
  assert.deepEqual([servers.value.map(({ id }) => id), left(), givenUp.value.words, find('1-1').ended_at], [['2-2'], [], '1 given up', null]);
  takeSnapshot({ instances: [dead(null), one('2-2')], given_up: null }, at(2000));
  assert.deepEqual([servers.value.length, left(), givenUp.value], [2, [], null]);
  takeSnapshot({ instances: [dead('2026-11-27T12:00:00Z')], given_up: { words: '1 given up', ids: ['1-1'] } }, at(6000));
  takeSnapshot({ instances: [], given_up: null }, at(12_000));
  assert.deepEqual(left(), ['1-1']);
});

test('a body of another version does no harm', () => {
  takeSnapshot({ instances: [one('1-1')] }, at(0));
  for (const body of [null, {}, { instances: 'x' }, { instances: [null] }]) assert.throws(() => takeSnapshot(body, at(1)));
  for (const body of [null, { ended: [null, {}] }]) takeStatus(body, at(1));
  assert.deepEqual([servers.value.map(({ id }) => id), gone.value], [['1-1'], []]);
});

test('one that has not changed is the same object', () => {
  takeSnapshot({ instances: [one('1-1', { idle_seconds: 1 }), one('2-2')] }, at(0));
  const [first, second] = servers.value;
  takeSnapshot({ instances: [one('1-1', { idle_seconds: 2 }), one('2-2', { pid: 2 })] }, at(1000));
  assert.equal(servers.value[0], first);
  assert.notEqual(servers.value[1], second);
});

test('a word means an id, then a pid, then a port; the living first', () => {
  const living = one('10-1', { port: 24284, pid: 10 });
  const other = one('24284-9', { port: 24290, pid: 24284 });
  const [older, old, newer] = [one('7-7', { port: 24290, pid: 7 }), one('8-8', { port: 24291, pid: 8 }), one('9-9', { port: 24291, pid: 9 })];
  takeSnapshot({ instances: [living, other] }, at(0));
  takeStatus({ ended: [older, old, newer].map((instance) => ({ instance, ended_at: at(0).toISOString(), why: '' })) }, at(0));
  const table = { '10-1': living, 24284: other, 10: living, '24284-9': other, 24290: other, '7-7': older, 7: older, 24291: newer, '8-8': old };
  for (const [word, want] of Object.entries(table)) assert.equal(find(word)?.instance.id, want.id, word);
  for (const word of ['null', '', 'x']) assert.equal(find(word), null);
});

test('a parked one is found as what it runs as now', () => {
  const parked = one('5-5', { state: 'parked', project_root: '/a', kind: 'serena', shared_by: 1, clients: [{ pid: 3 }] });
  const now = one('6-6', { project_root: '/a', kind: 'serena', shared_by: 1, clients: [{ pid: 3 }, { pid: 4 }] });
  takeSnapshot({ instances: [parked] }, at(0));
  takeSnapshot({ instances: [one('7-7'), now] }, at(1000));
  assert.equal(find('5-5')?.instance.id, '6-6');
  assert.equal(woke(parked, [parked], [{ ...now, project_root: '/b' }]), null);
  assert.equal(woke(parked, [parked, now], [now]), null, 'it was there before');
});

test('an order is pending until it is over', () => {
  order('1-1', 'stopping…');
  assert.equal(pending.value.get('1-1'), 'stopping…');
  order('1-1', '');
  assert.equal(pending.value.has('1-1'), false);
  assert.deepEqual(status.value, { ended: [] });
});

test('only what matters is announced', () => {
  const state = (list, more = {}) => ({ loaded: true, connected: true, trouble: '', servers: list, gone: [], ...more });
  const well = one('1-1');
  const red = { ...well, state: 'zombie' };
  assert.deepEqual(changes({ ...state([]), loaded: false }, state([red])), []);
  assert.deepEqual(changes(state([well]), state([{ ...well, rss_bytes: 5 }, one('2-2')])), []);
  assert.deepEqual(changes(state([well]), state([red])), ['1-1 - x needs attention: suspended']);
  assert.deepEqual(changes(state([red]), state([well])), ['1-1 - x is well again']);
  const planned = { ...well, shutdown_at: 'T', words: { next: { text: 'stops soon', why: 'no call for 30 min' } } };
  assert.deepEqual(changes(state([well]), state([planned])), ['1-1 - x stops soon: no call for 30 min']);
  assert.deepEqual(changes(state([well]), state([], { gone: [{ instance: well }] })), ['1-1 - x has ended']);
  assert.deepEqual(changes(state([]), state([], { connected: false, trouble: 'away' })), ['away']);
});
