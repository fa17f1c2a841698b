import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clockTime } from '../page/format.js';
import { decided, effect, givenBack, missing, offered, paused, restOfDay, standing } from '../page/policies.js';
import { Store } from '../page/store.js';

const now = new Date('2026-11-21T14:02:00Z');
const rule = (name, more = {}) => ({ name, words: `what ${name} does`, on: true, set: true, ...more });
const policy = {
  active: true, paused: false, paused_until: null, idle: 0, orphans: 0,
  rules: [rule('orphans'), rule('idle', { set: false }), rule('zombies', { on: false }), rule('memory')],
};

test('there are policies where there are rules', () => {
  for (const none of [undefined, null, {}, { rules: [] }]) assert.equal(offered(none), false, JSON.stringify(none));
  assert.equal(offered(policy), true);
});

test('how they stand, in short', () => {
  const until = '2026-11-21T15:00:00Z';
  const clock = clockTime(until, now);
  assert.equal(standing(policy, now), '2 of 4 on');
  assert.equal(standing({ ...policy, rules: [rule('orphans', { on: false }), rule('idle', { set: false })] }, now), 'all off');
  assert.equal(standing({ ...policy, paused: true, paused_until: until }, now), `paused until ${clock}`);
  assert.equal(paused({ paused: true, paused_until: null }, now), 'paused until resumed');
  assert.match(effect({ ...policy, paused: true, paused_until: until }, now), /nothing is ended/);
  assert.match(effect({ ...policy, active: false, paused: true }, now), /Another lamplighter/);
});

test('a rule without a setting says which', () => {
  assert.equal(missing(rule('idle')), '');
  assert.equal(missing(rule('idle', { set: false })), 'set idle_shutdown_minutes to use it');
  for (const unknown of ['of_a_later_version', 'toString']) assert.equal(missing(rule(unknown, { set: false })), 'it needs a setting');
});

test('a decision is a sentence', () => {
  const at = '2026-11-21T14:32:00Z';
  for (const [decision, want] of [
    [{ do: 'wait', at, reason: 'no call for 30 min', because: null }, `It will be ended at ${clockTime(at, now)}: no call for 30 min.`],
    [{ do: 'refuse', at, reason: 'no call for 30 min', because: 'its client Codex (7) is connected' }, 'It is left alone: no call for 30 min, but its client Codex (7) is connected.'],
    [{ do: 'notify', at, reason: 'it uses more than 2.0 GB', because: null }, 'You are told: it uses more than 2.0 GB.'],
    [{ do: 'end', at: null, reason: 'its client has ended', because: null }, 'It is ended now: its client has ended.'],
  ]) assert.equal(decided(decision, now), want);
});

test('today ends at midnight, where the page is', () => {
  assert.equal(restOfDay(new Date(2026, 10, 21, 23, 0, 0)), 60);
  assert.equal(restOfDay(new Date(2026, 10, 21, 0, 0, 0)), 24 * 60);
  assert.equal(restOfDay(new Date(2026, 10, 21, 23, 59, 59, 999)), 1);
});

test('what was given back', () => {
  assert.equal(givenBack(null), '');
  assert.equal(givenBack({ given_back_bytes: 0, given_back_since: null }), '');
  assert.equal(givenBack({ given_back_bytes: 3.2e9, given_back_since: null }), '3.2 GB given back');
  assert.match(givenBack({ given_back_bytes: 3.2e9, given_back_since: '2026-11-16T12:00:00Z' }), /^3.2 GB given back since .*16.*2026|2026.*16/);
});

test('an answer counts until the stream says the same', () => {
  const store = new Store();
  store.status({ policy, warnings: ['one'] });
  store.policy({ paused: true, paused_until: null });
  assert.equal(store.state.status.policy.paused, true);
  assert.equal(store.state.status.policy.rules.length, 4);
  assert.deepEqual(store.state.status.warnings, ['one']);
  assert.equal(policy.paused, false, 'what the stream said is not changed');
  store.status({ policy });
  assert.equal(store.state.status.policy.paused, false);
});
