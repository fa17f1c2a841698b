import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Failure } from '../page/http.js';
import { attached, common, ends, losses, planned, refusedAs, summary, verdict, why } from '../page/orders.js';

const failure = (status, answer) => new Failure(answer?.error ?? 'no reason', status, answer);

test('an answer to an order has one meaning', () => {
  const table = [
    [{ answer: { outcome: 'ended', detail: 'Ended.', processes: 3, freed_bytes: 5 } }, 'fine', 'Ended.'],
    [{ answer: { outcome: 'would end', detail: 'Would end.' } }, 'fine', 'Would end.'],
    [{ failure: failure(409, { error: 'x', outcome: 'refused', detail: 'Not ended: it is pinned.', forceable: true }) }, 'refused', 'Not ended: it is pinned.'],
    [{ failure: failure(404, { error: 'no server is "1"' }) }, 'gone', 'no server is "1"'],
    [{ failure: failure(502, { error: 'x', outcome: 'failed', detail: 'Not ended: python (1) is still there.' }) }, 'failed', 'Not ended: python (1) is still there.'],
    [{ failure: failure(0, null) }, 'unknown', 'no reason'],
  ];
  for (const [given, kind, text] of table) {
    const got = verdict(given);
    assert.deepEqual([got.kind, got.text], [kind, text]);
  }
  assert.equal(verdict(table[2][0]).forceable, true);
});

test('what is lost is said only where it is known', () => {
  assert.deepEqual(losses({ busy: null, client: null, shared_by: null }), []);
  assert.equal(losses({ busy: true, client: { name: 'Claude Code', pid: 9 }, shared_by: null }).length, 2);
  assert.match(losses({ client: { name: '', pid: 9 } })[0], /process 9/);
  assert.deepEqual(losses({ client: { name: 'curl', pid: 9 }, managed: true }), ['It was started for curl: whoever uses it loses it, and has to ask for another.']);
  assert.deepEqual(losses({ client: null, managed: true }), ['Whoever uses it loses it, and has to ask for another.']);
  assert.equal(attached({ client: { pid: 9 }, cause: 'orphaned' }), false);
  assert.equal(attached({ client: { pid: 9 }, cause: 'suspended' }), true);
});

test('several orders have one summary', () => {
  const plan = (kind, more = {}) => ({ instance: {}, verdict: { kind, text: `${kind}.`, processes: 3, freed: 400e6, ...more } });
  assert.deepEqual(summary([plan('fine'), plan('fine'), plan('fine')]), { text: '3 servers ended, about 1.2 GB given back.', bad: false });
  assert.deepEqual(summary([plan('fine'), plan('gone')]), { text: '1 server ended, about 400 MB given back. 1 had ended before.', bad: false });
  const mixed = summary([plan('refused'), plan('failed'), plan('unknown'), plan('refused'), plan('refused')]);
  assert.deepEqual(mixed, { text: 'refused. failed. unknown. 2 more were not ended.', bad: true });
  assert.equal(planned([plan('fine'), plan('refused')]), 'This ends 1 of 2 servers with 3 processes and gives back about 400 MB.');
});

test('a question says what it means for people', () => {
  assert.equal(ends({ kind: 'serena' }, { processes: 3, freed: 203e6 }), 'This ends serena and 2 other processes and gives back about 203 MB.');
  assert.equal(ends({ kind: '' }, { processes: 1, freed: 0 }), 'This ends the server.');
  assert.deepEqual(losses({ client: null }, true), ['Variables kept in its REPL are lost.']);
  assert.equal(why({ label: '4 - alpha' }, 'Not ended: 4 - alpha is pinned'), 'It is pinned.');
  assert.equal(why({ label: '4 - alpha' }, 'Lamplighter does not answer.'), 'Lamplighter does not answer.');
});

test('what all lose is said once', () => {
  assert.deepEqual(common([['a', 'b'], ['b', 'c'], ['b']]), { shared: ['b'], own: [['a'], ['c'], []] });
  assert.deepEqual(common([['a']]), { shared: [], own: [['a']] });
  assert.deepEqual(common([]), { shared: [], own: [] });
});

test('a refusal lasts until what it was about changes', () => {
  const one = { state: 'live_with_project', cause: null, busy: true, pinned: false };
  assert.equal(refusedAs(one), refusedAs({ ...one, rss_bytes: 5 }));
  for (const change of [{ busy: false }, { pinned: true }, { state: 'zombie' }, { cause: 'suspended' }]) assert.notEqual(refusedAs(one), refusedAs({ ...one, ...change }));
});
