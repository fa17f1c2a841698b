import assert from 'node:assert/strict';
import test from 'node:test';

import { about, days, detail, grave, key, markOf, merge, nameOfDay, dayOf, outline, words } from '../page/eventlist.js';

const event = (at, kind = 'started', id = '7-1', detail = '') => ({ at, kind, id, pid: 7, label: '2 - alpha', detail });

test('every kind has words and a mark', () => {
  for (const [kind, word, mark, isGrave] of [
    ['found', 'found', 'dot', false],
    ['started', 'started', 'starting', false],
    ['zombie_detected', 'needs attention', 'zombie', true],
    ['stop_refused', 'not ended', 'dot', true],
    ['force_killed', 'force-killed', 'ended', true],
    ['unpinned', 'unpinned', 'dot', false],
    ['shutdown_planned', 'will shut down', 'dot', false],
    ['policy_refused', 'left alone', 'dot', false],
    ['policies_paused', 'policies paused', 'dot', false],
    ['of_a_later_version', 'of a later version', 'dot', false],
    ['constructor', 'constructor', 'dot', false],
  ]) assert.deepEqual([words(kind), markOf(kind), grave(kind)], [word, mark, isGrave], kind);
});

test('one that was found says who started it', () => {
  assert.equal(detail(event('T', 'found', '7-1', 'by python3')), 'started by python3');
  assert.equal(detail(event('T', 'found', '7-1', 'asked for by curl')), 'asked for by curl');
  assert.equal(detail(event('T', 'found')), '');
  assert.equal(detail(event('T', 'started', '7-1', 'by python3')), 'by python3');
});

test('news are merged once and in order, what is too old goes', () => {
  const a = event('2026-11-20T10:00:00Z'), b = event('2026-11-20T10:00:01.5Z'), c = event('2026-11-20T10:00:01.5Z', 'stopped');
  const from = Date.parse('2026-11-20T09:00:00Z');
  assert.deepEqual(merge([a, b], [{ ...b }, c], from), [a, b, c]);
  assert.deepEqual(merge([c], [b, a], Date.parse('2026-11-20T10:00:01Z')).map(key), [c, b].map(key));
  assert.deepEqual(merge([], [null, {}, { at: 'never', kind: 'x' }, { at: 3, kind: 'x' }, 'x'], from), []);
});

test('days, the newest first', () => {
  const list = days([event('2026-11-19T12:00:00'), event('2026-11-20T11:00:00'), event('2026-11-20T12:00:00')]);
  assert.deepEqual(list.map(({ day, events }) => [day, events.map((one) => one.at)]), [
    ['2026-11-20', ['2026-11-20T12:00:00', '2026-11-20T11:00:00']],
    ['2026-11-19', ['2026-11-19T12:00:00']],
  ]);
  const now = new Date('2026-11-20T00:30:00');
  assert.equal(dayOf(now), '2026-11-20');
  assert.equal(nameOfDay('2026-11-20', now), 'Today');
  assert.equal(nameOfDay('2026-11-19', now), 'Yesterday');
  assert.match(nameOfDay('2026-11-01', now), /1/);
  assert.deepEqual(days([]), []);
});

test('an event belongs to the identity, not to the pid', () => {
  assert.ok(about(event('2026-11-20T10:00:00Z'), '7-1'));
  assert.ok(!about(event('2026-11-20T10:00:00Z', 'started', '7-2'), '7-1'));
});

test('the outline ignores what changes all the time', () => {
  const one = { id: '7-1', state: 'live_with_project', cause: null, project_name: 'alpha', pinned: false, rss_bytes: 1 };
  const before = outline([one], []);
  assert.equal(outline([{ ...one, rss_bytes: 2 }], []), before);
  for (const change of [{ state: 'zombie' }, { cause: 'suspended' }, { project_name: 'beta' }, { pinned: true }, { shutdown_at: 'T' }, { kept_until: 'T' }]) {
    assert.notEqual(outline([{ ...one, ...change }], []), before);
  }
  assert.notEqual(outline([one], [{ instance: { id: '8-1' } }]), before);
});
