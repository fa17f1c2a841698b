import assert from 'node:assert/strict';
import test from 'node:test';

import { Budget } from '../page/poll.js';
import { Schedule, kinds, news, trouble } from '../page/schedule.js';

// Clock is a time that moves only by order.
class Clock {
  now = 0;
  #timers = [];

  later = (fn, wait) => this.#timers.push({ at: this.now + wait, fn });

  async pass(ms) {
    const end = this.now + ms;
    for (;;) {
      await settle();
      const next = this.#timers.filter((one) => one.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.now = Math.max(this.now, next.at);
      next.fn();
    }
    this.now = end;
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

function made() {
  const clock = new Clock();
  const budget = new Budget({ now: () => clock.now, later: clock.later });
  const starts = [];
  const ask = (name, options) => budget.run(async () => { starts.push([name, clock.now]); return name; }, options);
  return { clock, budget, starts, ask };
}

test('a burst, and then one per second in the order of asking', async () => {
  const { clock, starts, ask } = made();
  for (let i = 0; i < 9; i++) ask(i);
  await clock.pass(0);
  assert.deepEqual(starts.map(([name]) => name), [0, 1, 2, 3, 4, 5]);
  await clock.pass(3_000);
  assert.deepEqual(starts.slice(6), [[6, 1_000], [7, 2_000], [8, 3_000]]);
});

test('what is left of a burst is not kept for later', async () => {
  const { clock, starts, ask } = made();
  await clock.pass(5_000);
  ask('a');
  ask('b');
  await clock.pass(0);
  assert.deepEqual(starts, [['a', 5_000]]);
  await clock.pass(1_000);
  assert.deepEqual(starts[1], ['b', 6_000]);
});

test('going to and fro gives no second burst', async () => {
  const { clock, budget, starts, ask } = made();
  for (let i = 0; i < 6; i++) ask(i);
  await clock.pass(1_500);
  budget.begin();
  for (let i = 0; i < 4; i++) ask(`again ${i}`);
  await clock.pass(0);
  assert.equal(starts.length, 7);
  await clock.pass(10_000);
  budget.begin();
  for (let i = 0; i < 4; i++) ask(`later ${i}`);
  await clock.pass(0);
  assert.equal(starts.length, 14);
});

test('an order of a person does not wait, and the others do', async () => {
  const { clock, starts, ask } = made();
  await clock.pass(2_000);
  ask('a');
  ask('b');
  await clock.pass(600);
  assert.equal(await ask('order', { urgent: true }), 'order');
  await clock.pass(2_000);
  assert.deepEqual(starts, [['a', 2_000], ['order', 2_600], ['b', 3_600]]);
});

test('a request that nobody wants any more is never made', async () => {
  const { clock, starts, ask } = made();
  await clock.pass(2_000);
  ask('a');
  const control = new AbortController();
  const waiting = ask('b', { signal: control.signal });
  ask('c');
  control.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  await assert.rejects(ask('d', { signal: control.signal, urgent: true }), { name: 'AbortError' });
  await clock.pass(5_000);
  assert.deepEqual(starts.map(([name]) => name), ['a', 'c']);
});

test('a request that fails gives its error to who asked, and the next is made', async () => {
  const { clock, budget, starts, ask } = made();
  await assert.rejects(budget.run(() => { throw new Error('no'); }), { message: 'no' });
  ask('a');
  await clock.pass(2_000);
  assert.equal(starts.length, 1);
});

test('idle only when nothing waits and nothing was asked', async () => {
  const { clock, budget, ask } = made();
  assert.equal(budget.idle(), false);
  await clock.pass(61_000);
  assert.equal(budget.idle(), true);
  ask('a');
  await clock.pass(0);
  assert.equal(budget.idle(), false);
});

test('what is shown is asked at once, and each again in its time', () => {
  const schedule = new Schedule();
  schedule.start(Object.keys(kinds), 0);
  assert.deepEqual(schedule.take(0), Object.keys(kinds));
  assert.deepEqual(schedule.take(99_000), [], 'no second request of a kind while one is under way');
  for (const kind of Object.keys(kinds)) schedule.answered(kind, 100);
  assert.equal(schedule.wait(100), 3_000);
  assert.deepEqual(schedule.take(3_100), ['queue', 'last']);
  schedule.answered('queue', 3_100);
  assert.deepEqual(schedule.take(6_100), ['queue']);
});

test('a quiet instance is asked less than three times in four seconds', () => {
  const schedule = new Schedule();
  schedule.start(Object.keys(kinds), 0);
  let asked = 0;
  for (let now = 0; now < 600_000; now += 100) {
    for (const kind of schedule.take(now)) {
      asked++;
      schedule.answered(kind, now);
    }
  }
  assert.ok(asked <= 420, `${asked} in ten minutes`);
});

test('what is wanted while it is under way is asked once more', () => {
  const schedule = new Schedule();
  schedule.start(['stats'], 0);
  schedule.take(0);
  schedule.want('stats', 10);
  schedule.want('stats', 20);
  schedule.answered('stats', 30);
  assert.deepEqual(schedule.take(30), ['stats']);
  schedule.answered('stats', 40);
  assert.equal(schedule.wait(40), Infinity);
  schedule.want('stats', 50, 1_000);
  assert.equal(schedule.wait(50), 980, 'counted from when it was asked last');
});

test('failures are asked ever more rarely, and success ends that for all', () => {
  const schedule = new Schedule();
  schedule.start(['queue', 'stats'], 0);
  const waits = [];
  for (let now = 0, i = 0; i < 6; i++) {
    schedule.take(now);
    schedule.failed('queue', now);
    schedule.failed('stats', now);
    waits.push(schedule.wait(now));
    schedule.want('queue', now);
    assert.equal(schedule.wait(now), waits.at(-1), 'an event does not hurry it');
    now += waits.at(-1);
  }
  assert.deepEqual(waits, [3_000, 6_000, 12_000, 20_000, 20_000, 20_000]);
  schedule.take(1e6);
  schedule.failed('stats', 1e6);
  schedule.answered('queue', 1e6);
  assert.deepEqual(schedule.take(1e6), ['stats']);
});

test('one that never failed does not hurry one that did', () => {
  const schedule = new Schedule();
  schedule.start(['overview', 'queue'], 0);
  schedule.take(0);
  schedule.failed('overview', 500);
  schedule.answered('queue', 0);
  assert.deepEqual(schedule.take(3_000), ['queue']);
});

test('what a version does not offer is not asked again', () => {
  const schedule = new Schedule();
  schedule.start(['last', 'queue'], 0);
  schedule.take(0);
  schedule.answered('queue', 0);
  schedule.failed('last', 0, { absent: true });
  schedule.want('last', 0);
  schedule.recover(0);
  schedule.start(['last', 'queue'], 60_000);
  assert.deepEqual(schedule.take(60_000), ['queue']);
});

test('after a rest, what was under way and what is due is asked', () => {
  const schedule = new Schedule();
  const all = Object.keys(kinds);
  schedule.start(all, 0);
  schedule.take(0);
  for (const kind of all) if (kind !== 'queue') schedule.answered(kind, 0);
  schedule.stop();
  assert.equal(schedule.wait(0), Infinity);
  assert.deepEqual(schedule.take(5_000), []);
  schedule.start(all, 5_000);
  assert.deepEqual(schedule.take(5_000), ['queue', 'last', 'stats']);
});

test('snapshots say what to ask', () => {
  const one = { state: 'live_with_project', project_name: 'a', project_root: '/a', context: 'ide', version: '2.1.0', dashboard_url: 'x', tool_calls: 1, last_activity: 't', busy: false, rss_bytes: 1 };
  const of = (change) => news(one, { ...one, ...change });
  assert.deepEqual(of({ rss_bytes: 2 }), { wanted: [], healed: false });
  assert.deepEqual(of({ project_name: 'b' }).wanted, ['overview']);
  for (const change of [{ tool_calls: 2 }, { busy: true }, { last_activity: 'u' }]) assert.deepEqual(of(change).wanted, ['last', 'stats', 'queue']);
  assert.equal(news({ ...one, state: 'zombie' }, one).healed, true);
  assert.equal(of({ state: 'zombie' }).healed, false);
});

test('why an answer did not come', () => {
  for (const [status, absent, short] of [
    [404, true, 'not offered'], [405, true, 'not offered'], [504, false, 'it does not answer'],
    [502, false, 'the last request failed'], [0, false, 'lamplighter does not answer'], [undefined, false, 'the last request failed'],
  ]) assert.deepEqual(trouble({ status, message: 'm' }), { absent, short, text: 'm' });
});
