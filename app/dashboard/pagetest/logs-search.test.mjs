import assert from 'node:assert/strict';
import test from 'node:test';

import { finder, missed, pieces, step } from '../page/loglines.js';

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

test('what is not there is said of what is held', () => {
  const told = (change) => missed({ known: 500, shown: 500, hits: 0, query: '', level: 'DEBUG', older: true, ...change });
  assert.equal(told({}), '');
  assert.equal(told({ known: 0, shown: 0 }), '');
  assert.equal(told({ shown: 0, level: 'ERROR' }), 'No errors in the newest 500 messages.');
  assert.equal(told({ shown: 0, level: 'WARNING', known: 1200, older: false }), 'No warnings or errors in the 1,200 messages.');
  assert.equal(told({ query: 'lamp' }), 'No “lamp” in the newest 500 messages.');
  assert.equal(told({ query: 'lamp', hits: 3 }), '');
});
