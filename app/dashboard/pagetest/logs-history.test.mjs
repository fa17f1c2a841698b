import assert from 'node:assert/strict';
import test from 'node:test';

import { Series, at, begin, kept, summary, top } from '../page/historydata.js';

const instance = (rss, cpu, calls) => ({ rss_bytes: rss, cpu_percent: cpu, tool_calls: calls });

test('an answer is taken, and goes on with what the page sees', () => {
  const series = new Series();
  series.load({ times: [100, 110], rss_bytes: [1, null], cpu_percent: [0.5, 0], tool_calls: [null, 3] });
  assert.deepEqual(series.until(110), [[100, 110], [1, null], [0.5, 0], [null, 3]]);
  assert.equal(series.observe(instance(null, 0, 3), 120), false, 'the same');
  assert.equal(series.observe(instance(2, 0, 3), 130.7), true);
  assert.deepEqual(series.until(140.2), [[100, 110, 130, 140], [1, null, 2, 2], [0.5, 0, 0, 0], [null, 3, 3, 3]]);
  assert.deepEqual(series.times, [100, 110, 130], 'until changes nothing');
});

test('what the page saw after the answer was made stays', () => {
  const series = new Series();
  series.observe(instance(1, 0, 0), 100);
  series.observe(instance(2, 0, 0), 120);
  series.load({ times: [90, 110], rss_bytes: [9, 10], cpu_percent: [0, 0], tool_calls: [0, 0] });
  assert.deepEqual(series.times, [90, 110, 120]);
  assert.deepEqual(series.rss, [9, 10, 2]);
});

test('many changes at once become few points, and the last one is right', () => {
  const series = new Series();
  for (let i = 0; i < 100; i++) series.observe(instance(i, 0, 0), 1000 + i);
  assert.ok(series.times.length <= 35, String(series.times.length));
  assert.deepEqual([series.times.at(-1), series.rss.at(-1)], [1099, 99]);
  series.times.forEach((time, i) => assert.ok(i === 0 || time > series.times[i - 1]));
});

test('it keeps a day, and the value that held when the day began', () => {
  const series = new Series();
  for (let i = 0; i <= 300; i++) series.observe(instance(i, 0, 0), i * 600);
  assert.ok(series.times[0] <= 300 * 600 - kept);
  assert.ok(series.times.length < 150);
});

test('foreign answers', () => {
  for (const answer of [null, {}, { times: 'x' }, { times: [null, 'a', NaN] }, { times: [1], rss_bytes: ['x'] }]) {
    const series = new Series();
    series.load(answer);
    assert.ok(series.times.length <= 1);
  }
  const series = new Series();
  series.load({ times: [5, 5, 4, 6], rss_bytes: [1, 2, 3, 4] });
  assert.deepEqual([series.times, series.rss], [[5, 6], [1, 4]]);
});

test('the value that held at a time', () => {
  const times = [10, 20, 30];
  assert.deepEqual([5, 10, 15, 30, 99].map((time) => at(times, time)), [-1, 0, 0, 2, 2]);
  assert.equal(at([], 1), -1);
});

test('a summary', () => {
  const times = [0, 100, 200, 300];
  assert.deepEqual(summary(times, [null, 9, 3, 4], 0), { now: 4, highest: 9, highestAt: 100, since: 100 });
  assert.deepEqual(summary(times, [null, 9, 3, 4], 150), { now: 4, highest: 9, highestAt: 150, since: 100 }, 'it held until then');
  assert.deepEqual(summary(times, [null, 9, 3, 4], 250), { now: 4, highest: 4, highestAt: 300, since: 100 });
  assert.deepEqual(summary(times, [1, 1, 1, null], 0), { now: null, highest: 1, highestAt: 200, since: 0 });
  assert.deepEqual(summary([], [], 0), { now: null, highest: null, highestAt: null, since: null });
});

test('the end of a scale is round and above the highest', () => {
  for (const [highest, least, want] of [[null, 10, 10], [0, 10, 10], [9.3, 10, 12], [10, 10, 12], [97, 10, 120], [640e6, 50e6, 800e6], [1000e6, 50e6, 1200e6]]) {
    assert.equal(top(highest, least), want, `${highest}`);
  }
});

test('the charts begin where something is known', () => {
  assert.deepEqual([begin(0, 10_000, 1800), begin(9_000, 10_000, 1800), begin(9_990, 10_000, 1800)], [8_200, 9_000, 9_700]);
});
