// What the views say, as far as it is decided without a page.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { outcomeOf } from '../page/details.js';
import { dayOf, days, merge, nameOfDay, withoutSteps } from '../page/events.js';
import { at, begin, columnsOf, increments, summary, top } from '../page/history.js';
import { standing as login } from '../page/welcome.js';
import { restOfDay, standing } from '../page/policies.js';
import { does } from '../page/welcome.js';

const event = (when, kind = 'started', id = '7-1') => ({ at: when, kind, id, pid: 7, label: '2 - alpha', detail: '', words: { what: kind, detail: '', mark: '', look: false } });

test('news are merged once and in order, what is too old goes', () => {
  const [a, b, c] = [event('2026-11-20T10:00:00Z'), event('2026-11-20T10:00:01.5Z'), event('2026-11-20T10:00:01.5Z', 'stopped')];
  const from = Date.parse('2026-11-20T09:00:00Z');
  assert.deepEqual(merge([a, b], [{ ...b }, c], from), [a, b, c]);
  assert.deepEqual(merge([c], [b, a], Date.parse('2026-11-20T10:00:01Z')), [c, b]);
  assert.deepEqual(merge([], [null, {}, { at: 'never', kind: 'x' }, { at: 3 }, { at: '2026-11-20T10:00:00Z', kind: 'x' }, 'x'], from), []);
});

test('days, the newest first', () => {
  const list = days([event('2026-11-19T12:00:00'), event('2026-11-20T11:00:00'), event('2026-11-20T12:00:00')]);
  assert.deepEqual(list.map(({ day, events }) => [day, events.map((one) => one.at)]), [['2026-11-20', ['2026-11-20T12:00:00', '2026-11-20T11:00:00']], ['2026-11-19', ['2026-11-19T12:00:00']]]);
  const now = new Date('2026-11-20T00:30:00');
  assert.deepEqual([dayOf(now), nameOfDay('2026-11-20', now), nameOfDay('2026-11-19', now)], ['2026-11-20', 'Today', 'Yesterday']);
  assert.match(nameOfDay('2026-11-01', now), /1/);
  assert.equal(nameOfDay('2026-99-99', now), '2026-99-99');
});

test('a history is taken as far as it can be read, and held until now', () => {
  const all = columnsOf({ times: [100, 110], rss_bytes: [1, null], cpu_percent: [0.5, 0], tool_calls: [null, 3] }, 120.7);
  assert.deepEqual(all, { times: [100, 110, 120], rss: [1, null, null], cpu: [0.5, 0, 0], calls: [null, 3, 3] });
  for (const answer of [null, {}, { times: 'x' }, { times: [null, 'a', NaN] }]) assert.deepEqual(columnsOf(answer, 5).times, []);
  assert.deepEqual(columnsOf({ times: [1], rss_bytes: ['x'] }, 1).rss, [null]);
});

test('the value that held, the highest, and the scale', () => {
  assert.deepEqual([5, 10, 15, 30, 99].map((time) => at([10, 20, 30], time)), [-1, 0, 0, 2, 2]);
  const times = [0, 100, 200, 300];
  assert.deepEqual(summary(times, [null, 9, 3, 4], 0), { now: 4, highest: 9, highestAt: 100 });
  assert.deepEqual(summary(times, [null, 9, 3, 4], 150), { now: 4, highest: 9, highestAt: 150 }, 'it held until then');
  assert.deepEqual(summary(times, [1, 1, 1, null], 0), { now: null, highest: 1, highestAt: 200 });
  assert.deepEqual(summary([], [], 0), { now: null, highest: null, highestAt: null });
  for (const [highest, least, want] of [[null, 10, 10], [9.3, 10, 12], [97, 10, 120], [640e6, 50e6, 800e6]]) assert.equal(top(highest, least), want, `${highest}`);
  assert.deepEqual([begin(0, 10_000, 1800), begin(9_000, 10_000, 1800), begin(9_990, 10_000, 1800)], [8_200, 9_000, 9_700]);
  assert.deepEqual(increments(1).slice(0, 5), [1, 2, 5, 10, 20]);
});

test('how the policies stand', () => {
  const rule = (name, more = {}) => ({ name, words: `End what ${name} means`, on: true, set: true, ...more });
  const policy = { active: true, paused: false, paused_until: null, rules: [rule('orphans'), rule('idle', { set: false }), rule('zombies', { on: false }), rule('memory')] };
  assert.equal(standing(policy, Date.now()), '2 of 4 on');
  assert.equal(standing({ ...policy, rules: [rule('idle', { set: false })] }, Date.now()), 'all off');
  assert.equal(standing({ ...policy, paused: true }, Date.now()), 'paused until resumed');
  assert.equal(restOfDay(new Date(2026, 10, 21, 23, 0, 0)), 60);
  assert.equal(restOfDay(new Date(2026, 10, 21, 23, 59, 59, 999)), 1);
  assert.match(does(policy), /^It ends what orphans means and what memory means, and shows that minutes before\. Orphaned means/);
  assert.equal(does(undefined), 'It ends nothing by itself; it only tells you.');
  assert.match(does({ ...policy, paused: true }), /paused/);
  assert.match(does({ ...policy, active: false }), /Another lamplighter/);
});

test('start at login says what does it', () => {
  assert.equal(login({ on: true, can: true, how: 'autostart entry', why: null }), 'By an autostart entry.');
  assert.equal(login({ on: false, can: true, how: null, why: 'it is masked' }), 'Off: you start it yourself after each login. It is masked.');
  assert.equal(login({ on: false, can: false, how: null, why: null }), '');
});

test('a task that ended has one outcome', () => {
  assert.deepEqual([true, null, false].map((success) => outcomeOf({ success }).words), ['Succeeded', 'Finished', 'Failed or cancelled']);
});

test('the steps of a stop whose end is told are left out', () => {
  const event = (kind, order, id = '1-1', step = false) => ({ kind, id, ...(order && { order }), words: { what: kind, step } });
  const list = [event('stop_ordered', 'a'), event('asked', 'a'), event('stop_ordered', 'a', '2-2'), event('force_killed', 'a'), event('stopped', '', '1-1', true), event('ended', 'a')];
  assert.deepEqual(withoutSteps(list).map(({ kind, id }) => `${kind} ${id}`), ['stop_ordered 2-2', 'force_killed 1-1', 'ended 1-1']);
});
