import assert from 'node:assert/strict';
import { test } from 'node:test';

import { absolute, ago, bytes, clockTime, count, duration, head, middle, percent, phrase, plural, sentence, until } from '../page/format.js';
import { nameOf } from '../page/ui.js';

const table = (fn, cases) => {
  for (const [given, want] of cases) assert.equal(fn(given), want, JSON.stringify(given));
};

test('memory is told as on the command line', () => {
  table(bytes, [[0, '0 MB'], [499_999, '0 MB'], [500_000, '1 MB'], [108_400_000, '108 MB'], [999_499_999, '999 MB'], [999_500_000, '1.0 GB'], [12_345_678_901, '12.3 GB'], [null, '–'], [undefined, '–'], [NaN, '–']]);
});

test('numbers', () => {
  table(percent, [[0, '0.0 %'], [3.14, '3.1 %'], [9.94, '9.9 %'], [9.95, '10 %'], [123.4, '123 %'], [null, '–']]);
  table(count, [[0, '0'], [1234567, '1,234,567'], [null, '–']]);
  assert.equal(plural(1, 'server', 'servers'), '1 server');
  assert.equal(plural(0, 'server', 'servers'), '0 servers');
});

test('spans', () => {
  table(duration, [[-3, '< 10 s'], [9, '< 10 s'], [10, '10 s'], [59, '50 s'], [60, '1 min'], [7199, '119 min'], [7200, '2 h'], [172799, '47 h'], [172800, '2 d'], [null, '–']]);
});

test('moments', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const at = (seconds) => new Date(now.getTime() + seconds * 1000).toISOString();
  table((when) => ago(when, now), [[at(0), 'just now'], [at(-9), 'just now'], [at(-120), '2 min ago'], [null, '–'], ['nonsense', '–']]);
  table((when) => until(when, now), [[at(5), 'any moment'], [at(30), 'in under 1 min'], [at(200), 'in 4 min'], [at(240), 'in 4 min'], [at(3 * 3600), 'in 3 h'], ['', '–']]);
  assert.equal(absolute(null), '');
  assert.match(absolute(now), /2026/);
  assert.match(absolute(new Date(2026, 10, 20, 15, 4, 5)), /\b15[:.]04[:.]05$/, 'one clock, of 24 hours');
});

test('the head says the whole truth', () => {
  const one = (state, rss) => ({ state, rss_bytes: rss });
  assert.equal(head([]), 'No servers yet');
  assert.equal(head([one('live_with_project', null)]), '1 server');
  assert.equal(head([one('live_with_project', 140e6), one('zombie', 500e6)]), '2 servers, 1 needs attention, 640 MB');
  assert.equal(head([one('zombie', 0), one('zombie', 0)]), '2 servers, 2 need attention');
});

test('names', () => {
  assert.equal(nameOf({ label: '4 - a - b' }), 'a - b');
  assert.equal(nameOf({ label: 'odd' }), 'odd');
  assert.equal(middle('short', 10), 'short');
  assert.equal(middle('a-very-long-name-01', 9), 'a-ve…e-01');
  assert.equal([...new Intl.Segmenter().segment(middle('👩‍👩‍👧‍👦'.repeat(10), 5))].length, 5);
});

test('a phrase goes on with its time', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const at = '2026-11-21T12:30:00Z';
  assert.equal(phrase({ text: 'stops at', at, why: 'no call for 30 min' }, now), `stops at ${clockTime(at, now)}: no call for 30 min`);
  assert.equal(phrase({ text: 'idle', since: '2026-11-21T11:50:00Z' }, now), 'idle 10 min');
  assert.equal(phrase({ text: 'busy' }, now), 'busy');
});

test('sentences begin and end as such', () => {
  table(sentence, [
    ['', ''], ['in use: vim', 'In use: vim.'], ['/a/b is gone', '/a/b is gone.'], ['Done.', 'Done.'], ['busy', 'Busy.'], ['fix.go is new', 'fix.go is new.'], ['élan vital', 'Élan vital.'], [null, ''],
    ['/a/b: no space.', '/a/b: no space.'], ['serena.json: no space', 'serena.json: no space.'],
  ]);
});
