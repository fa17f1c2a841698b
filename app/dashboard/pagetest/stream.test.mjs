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
    'data:a\n\n': [['message', 'a']],
    'data:  a\n\n': [['message', ' a']],
    'data: a\r\n\r\n': [['message', 'a']],
    'data: a\r\rdata: b\n\r\n': [['message', 'a'], ['message', 'b']],
    'data: a\ndata: b\n\n': [['message', 'a\nb']],
    'data\n\n': [['message', '']],
    'data:\ndata:\n\n': [['message', '\n']],
    'event: status\ndata: {}\n\ndata: x\n\n': [['status', '{}'], ['message', 'x']],
    'event: status\n\ndata: x\n\n': [['message', 'x']],
    ': heartbeat\n\n:\n\ndata: x\n\n': [['message', 'x']],
    'data: x\n: within\nid: 7\nretry: 3\nfoo\n\n': [['message', 'x']],
    '\ufeffdata: x\n\n': [['message', 'x']],
    'data: never ended\n': [],
  };
  for (const [text, want] of Object.entries(table)) assert.deepEqual(parse(text), want, JSON.stringify(text));
});

test('it does not matter where chunks are cut', () => {
  const text = ': hello\r\nevent: status\r\ndata: größe 数据 🏮\r\ndata: two\r\n\r\n:\n\ndata: {"instances":[]}\n\ndata: cr\r\rdata: end\n\n';
  const all = bytes(text);
  const want = [['status', 'größe 数据 🏮\ntwo'], ['message', '{"instances":[]}'], ['message', 'cr'], ['message', 'end']];
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
