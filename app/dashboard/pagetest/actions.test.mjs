import assert from 'node:assert/strict';
import { test } from 'node:test';

import { common, mayKill, mayStop, planned, summary, verdict } from '../page/actions.js';
import { Failure } from '../page/http.js';

const failure = (status, answer) => new Failure(answer?.error ?? 'no reason', status, answer);

test('an answer to an order has one meaning', () => {
  const table = [
    [{ answer: { outcome: 'ended', detail: 'Ended.', processes: 3, freed_bytes: 5 } }, 'fine', 'Ended.'],
    [{ failure: failure(409, { error: 'x', outcome: 'refused', detail: 'Not ended: it is pinned.', forceable: true }) }, 'refused', 'Not ended: it is pinned.'],
    [{ failure: failure(404, { error: 'no server is "1"' }) }, 'gone', 'no server is "1"'],
    [{ failure: failure(502, { error: 'x', outcome: 'failed', detail: 'Not ended: python (1) is still there.' }) }, 'failed', 'Not ended: python (1) is still there.'],
    [{ failure: failure(0, null) }, 'unknown', 'no reason'],
  ];
  for (const [given, kind, text] of table) {
    const got = verdict(given);
    assert.deepEqual([got.kind, got.text], [kind, text]);
  }
  assert.equal(verdict(table[1][0]).forceable, true);
});

test('several orders have one summary', () => {
  const plan = (kind, more = {}) => ({ instance: {}, verdict: { kind, text: `${kind}.`, processes: 3, freed: 400e6, ...more } });
  assert.deepEqual(summary([plan('fine'), plan('fine'), plan('fine')]), { text: '3 servers ended, about 1.2 GB freed.', bad: false });
  assert.deepEqual(summary([plan('fine'), plan('gone')]), { text: '1 server ended, about 400 MB freed. 1 had ended before.', bad: false });
  const mixed = summary([plan('refused'), plan('failed'), plan('unknown'), plan('refused'), plan('refused')]);
  assert.deepEqual(mixed, { text: 'refused. failed. unknown. 2 more were not ended.', bad: true });
  assert.equal(planned([plan('fine'), plan('refused')]), 'This ends 1 of 2 servers with 3 processes and frees about 400 MB.');
  assert.equal(planned([plan('fine', { freed: 0 })]), 'This ends 3 processes.');
});

test('what all lose is said once', () => {
  assert.deepEqual(common([['a', 'b'], ['b', 'c'], ['b']]), { shared: ['b'], own: [['a'], ['c'], []] });
  assert.deepEqual(common([['a']]), { shared: [], own: [['a']] });
  assert.deepEqual(common([]), { shared: [], own: [] });
});

test('only what could be followed is offered', () => {
  const red = { id: 'a', state: 'zombie', cause: 'suspended' };
  assert.deepEqual([mayStop(red), mayKill(red)], [true, true]);
  assert.equal(mayKill({ ...red, state: 'live' }), false);
  for (const never of [{ certainty: 'unsure' }, { state: 'parked' }, { cause: 'defunct' }]) assert.equal(mayStop({ ...red, ...never }), false, JSON.stringify(never));
});
