import assert from 'node:assert/strict';
import test from 'node:test';

import { finder, pieces, step } from '../page/loglines.js';

test('text is found whatever its case, and taken literally', () => {
  for (const [query, text, want] of [
    ['', 'anything', []],
    ['a', 'banAna', [[1, 2], [3, 4], [5, 6]]],
    ['aa', 'aaaa', [[0, 2], [2, 4]]],
    ['a.b', 'axb a.b', [[4, 7]]],
    ['[x](y)*', 'see [x](y)*', [[4, 11]]],
    ['\\', 'a\\b', [[1, 2]]],
    ['straße', 'STRASSE straße', [[8, 14]]],
    ['ı', 'İI', []],
    ['two\nlines', 'TWO\nLINES', [[0, 9]]],
  ]) assert.deepEqual(finder(query)(text), want, query);
});

test('next and previous go around', () => {
  assert.deepEqual([step(-1, 1, 3), step(2, 1, 3), step(0, -1, 3), step(-1, -1, 3), step(0, 1, 0)], [0, 0, 2, 2, -1]);
});

test('text is cut at the hits', () => {
  assert.deepEqual(pieces('abc', []), [{ text: 'abc', hit: -1 }]);
  assert.deepEqual(pieces('', []), []);
  assert.deepEqual(pieces('abcabc', [[1, 2], [4, 5]]).map((p) => `${p.text}${p.hit}`), ['a-1', 'b0', 'ca-1', 'b1', 'c-1']);
  assert.deepEqual(pieces('abc', [[2, 5], [7, 8]]), [{ text: 'ab', hit: -1 }, { text: 'c', hit: 0 }]);
});
