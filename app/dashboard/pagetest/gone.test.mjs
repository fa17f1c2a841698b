import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changes } from '../page/changes.js';
import { missed } from '../page/gone.js';
import { Store, index } from '../page/store.js';

const one = (id, more = {}) => ({ id, label: `${id} - x`, port: null, pid: null, state: 'live_with_project', ...more });
const minute = 60_000;
const start = new Date('2026-11-21T12:00:00Z');
const at = (ms) => new Date(start.getTime() + ms);
const gone = (store) => store.state.ended.map((ended) => ended.instance.id);

test('one that leaves is kept until lamplighter says why', () => {
  const store = new Store();
  store.snapshot({ instances: [one('1-1'), one('2-2')] }, at(0));
  store.snapshot({ instances: [one('2-2')] }, at(1000));
  assert.deepEqual(gone(store), ['1-1']);
  store.status({ ended: [{ instance: one('1-1'), ended_at: at(1000).toISOString(), why: 'it was stopped' }] }, at(1500));
  assert.equal(store.state.ended[0].why, 'it was stopped');
  store.tidy(at(9 * minute));
  assert.deepEqual(gone(store), ['1-1']);
  store.tidy(at(11 * minute));
  assert.deepEqual(gone(store), []);
});

test('one that leaves and has not ended goes', () => {
  const store = new Store();
  store.snapshot({ instances: [one('1-1'), one('3-3', { state: 'parked' })] }, at(0));
  store.snapshot({ instances: [] }, at(1000));
  assert.deepEqual(gone(store), ['1-1']);
  store.tidy(at(5000));
  assert.deepEqual(gone(store), []);
});

test('what happened while lamplighter was away is said as far as it is known', () => {
  const store = new Store();
  store.snapshot({ instances: [one('1-1')] }, at(0));
  store.lost('it does not answer');
  assert.equal(store.state.connected, false);
  store.snapshot({ instances: [] }, at(minute));
  store.status({ ended: [] }, at(minute));
  store.tidy(at(2 * minute));
  assert.deepEqual(store.state.ended.map((ended) => ended.why), [missed]);
  assert.equal(store.state.connected, true);
});

test('a living one has not ended, and a dismissed one stays away', () => {
  const store = new Store();
  const ended = [{ instance: one('1-1'), ended_at: at(0).toISOString(), why: '' }, { instance: one('2-2'), ended_at: at(0).toISOString(), why: '' }];
  store.snapshot({ instances: [one('1-1')] }, at(0));
  store.status({ ended }, at(0));
  assert.deepEqual(gone(store), ['2-2']);
  const now = Date.now();
  for (const entry of ended) entry.ended_at = new Date(now).toISOString();
  store.status({ ended }, new Date(now));
  store.dismiss('2-2');
  store.status({ ended }, new Date(now));
  assert.deepEqual(gone(store), []);
});

test('a body of another version does no harm', () => {
  const store = new Store();
  store.snapshot(null, at(0));
  store.snapshot({}, at(0));
  store.status(null, at(0));
  store.status({ ended: [null, {}] }, at(0));
  assert.deepEqual([store.state.instances, store.state.ended], [[], []]);
});

test('a word means an id, then a pid, then a port; the living first', () => {
  const living = one('10-1', { port: 24284, pid: 10 });
  const other = one('24284-9', { port: 24290, pid: 24284 });
  const older = one('7-7', { port: 24290, pid: 7 });
  const old = one('8-8', { port: 24291, pid: 8 });
  const newer = one('9-9', { port: 24291, pid: 9 });
  const words = index({ instances: [living, other], ended: [older, old, newer].map((instance) => ({ instance, ended_at: 'then', why: '' })) });
  const table = { '10-1': living, 24284: other, 10: living, '24284-9': other, 24290: other, '7-7': older, 7: older, 24291: newer, '8-8': old };
  for (const [word, want] of Object.entries(table)) assert.equal(words.get(word)?.instance, want, word);
  assert.equal(words.get('null'), undefined);
  assert.equal(words.get(''), undefined);
});

test('only what matters is announced', () => {
  const state = (instances, more = {}) => ({ loaded: true, connected: true, trouble: '', instances, ended: [], ...more });
  const well = one('1-1');
  const red = { ...well, state: 'zombie', cause: 'suspended' };
  assert.deepEqual(changes({ ...state([]), loaded: false }, state([red])), []);
  assert.deepEqual(changes(state([well]), state([{ ...well, rss_bytes: 5 }, one('2-2')])), []);
  assert.deepEqual(changes(state([well]), state([red])), ['1-1 - x needs attention: suspended']);
  assert.deepEqual(changes(state([red]), state([red])), []);
  assert.deepEqual(changes(state([red]), state([well])), ['1-1 - x is well again']);
  assert.deepEqual(changes(state([]), state([red])), ['1-1 - x needs attention: suspended']);
  const planned = { ...well, shutdown_at: 'T', shutdown_reason: 'no call for 30 min' };
  assert.deepEqual(changes(state([well]), state([planned])), ['1-1 - x will shut down, because no call for 30 min']);
  assert.deepEqual(changes(state([planned]), state([{ ...planned, shutdown_at: 'U' }])), []);
  assert.deepEqual(changes(state([well]), state([], { ended: [{ instance: well }] })), ['1-1 - x has ended']);
  assert.deepEqual(changes(state([well]), state([well], { connected: false, trouble: 'gone away' })), ['gone away']);
  assert.deepEqual(changes(state([well], { connected: false }), state([well])), ['Lamplighter answers again']);
});
