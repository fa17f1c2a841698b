import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parser, pause } from '../page/stream.js';

const bytes = (text) => new TextEncoder().encode(text);

function parse(...chunks) {
  const got = [];
  const feed = parser((name, data) => got.push([name, data]));
  for (const chunk of chunks) feed(typeof chunk === 'string' ? bytes(chunk) : chunk);
  return got;
}

test('events are told by name and data', () => {
  const table = {
    'data: a\n\n': [['message', 'a']],
    'data:  a\n\n': [['message', ' a']],
    'event: status\ndata: {}\n\ndata: x\n\n': [['status', '{}'], ['message', 'x']],
    'event: status\n\ndata: x\n\n': [['message', 'x']],
    ':\n\ndata: x\n\n': [['message', 'x']],
    'data: x\nid: 7\nretry: 3\nfoo\n\n': [['message', 'x']],
    'data: never ended\n': [],
  };
  for (const [text, want] of Object.entries(table)) assert.deepEqual(parse(text), want, JSON.stringify(text));
});

test('it does not matter where chunks are cut', () => {
  const text = 'event: status\ndata: größe 数据 🏮\n\n:\n\ndata: {"instances":[]}\n\ndata: end\n\n';
  const all = bytes(text);
  const want = [['status', 'größe 数据 🏮'], ['message', '{"instances":[]}'], ['message', 'end']];
  for (let a = 0; a <= all.length; a++) {
    assert.deepEqual(parse(all.slice(0, a), all.slice(a)), want, `cut at ${a}`);
    const b = Math.min(a + 3, all.length);
    assert.deepEqual(parse(all.slice(0, a), all.slice(a, b), all.slice(b)), want, `cut at ${a} and ${b}`);
  }
  assert.deepEqual(parse(...Array.from(all, (_, i) => all.slice(i, i + 1))), want, 'byte by byte');
});

test('a long event in many chunks is read in one go', () => {
  const data = 'x'.repeat(300_000);
  const all = bytes(`data: ${data}\n\n`);
  const chunks = [];
  for (let i = 0; i < all.length; i += 1000) chunks.push(all.slice(i, i + 1000));
  assert.deepEqual(parse(...chunks), [['message', data]]);
});

test('pauses grow to their limit and differ', () => {
  assert.equal(pause(0, () => 1), 250);
  assert.equal(pause(0, () => 0), 125);
  assert.equal(pause(2, () => 1), 1000);
  for (const n of [5, 10, 2000]) {
    assert.equal(pause(n, () => 1), 5000);
    assert.equal(pause(n, () => 0), 2500);
  }
});
