// Long work in short pieces.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { firstFrom, groups, slicer } from '../page/slices.js';

test('the browser draws once a piece has taken long enough', async () => {
  let now = 0;
  let frames = 0;
  const rest = slicer({ now: () => now, frame: async () => { frames++; now += 16; } });
  const drawn = [];
  for (let i = 0; i < 12; i++) {
    now += 3; // a step of the work
    await rest();
    drawn.push(frames);
  }
  assert.deepEqual(drawn, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
});

test('groups hold everything, in order', () => {
  assert.deepEqual(groups([], 3), []);
  assert.deepEqual(groups([1, 2, 3], 3), [[1, 2, 3]]);
  assert.deepEqual(groups([1, 2, 3, 4], 3), [[1, 2, 3], [4]]);
});

test('the first from which on something holds', () => {
  for (let length = 0; length < 6; length++) {
    const list = Array.from({ length }, (_, i) => i);
    for (let from = 0; from <= length; from++) assert.equal(firstFrom(list, (n) => n >= from), list[from]);
  }
});
