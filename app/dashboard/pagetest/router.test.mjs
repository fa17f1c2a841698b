import assert from 'node:assert/strict';
import { test } from 'node:test';

import { splitToken, read, Failure, tokenNeeded } from '../page/http.js';
import { address, parse } from '../page/router.js';

test('addresses', () => {
  const table = {
    '': ['', ''], '#': ['', ''], '#/': ['', ''], '#//': ['', ''],
    '#/24284': ['24284', ''], '#/24284/logs': ['24284', 'logs'], '#/4242-991199/events': ['4242-991199', 'events'],
    '#/24284/nonsense': ['24284', ''], '#24284/history': ['24284', 'history'], '#/24284/logs/more': ['24284', 'logs'],
    '#/a%20b': ['a b', ''], '#/100%': ['100%', ''], '#/%3Cscript%3E': ['<script>', ''], '#//logs': ['', ''],
  };
  for (const [hash, [word, section]] of Object.entries(table)) assert.deepEqual(parse(hash), { word, section }, hash);
});

test('an address is read as it was written', () => {
  for (const word of ['24284', '4242-991199', 'a/b', '50%', '#', '?x=1', 'größe']) {
    for (const section of ['', 'logs', 'memories']) assert.deepEqual(parse(address(word, section)), { word, section });
  }
  assert.equal(address(''), '#/');
});

test('the token leaves the address and the rest stays', () => {
  const table = {
    '': ['', ''], '#/24284/logs': ['', '#/24284/logs'], '#token=abc': ['abc', ''],
    '#/24284/logs&token=a-b_c': ['a-b_c', '#/24284/logs'],
    '#/&token=abc': ['abc', '#/'], '#/mytoken=abc': ['', '#/mytoken=abc'],
  };
  for (const [hash, [token, rest]] of Object.entries(table)) assert.deepEqual(splitToken(hash), { token, rest }, hash);
});

test('failures say what the answer says', () => {
  assert.deepEqual(read(200, '{"a":1}'), { a: 1 });
  assert.equal(read(204, ''), null);
  const table = [
    [409, '{"error":"Not ended."}', 'Not ended.'],
    [500, '{}', 'Lamplighter answered with status 500 and no reason.'],
    [200, '<html>', 'Lamplighter gave an answer that is not JSON (status 200).'],
    [403, '{"error":"a token is needed"}', tokenNeeded],
    [403, '{"error":"another user"}', 'another user'],
  ];
  for (const [status, text, message] of table) {
    assert.throws(() => read(status, text), (error) => error instanceof Failure && error.status === status && error.message === message, text);
  }
});
