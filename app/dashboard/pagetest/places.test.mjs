// Places for streams, and how long a request may take.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Failure, get } from '../page/http.js';
import { takePlace } from '../page/stream.js';

// Locks are the browser's, as far as they are used.
class Locks {
  held = new Set();

  async request(name, { ifAvailable }, fn) {
    assert.ok(ifAvailable, 'nobody waits');
    if (this.held.has(name)) return fn(null);
    this.held.add(name);
    try {
      return await fn({ name });
    } finally {
      this.held.delete(name);
    }
  }
}

test('three windows have a place, the next one when another gives its back', async () => {
  const locks = new Locks();
  const places = [await takePlace(locks), await takePlace(locks), await takePlace(locks)];
  for (const leave of places) assert.equal(typeof leave, 'function');
  assert.equal(await takePlace(locks), null);
  places[1]();
  await new Promise(setImmediate);
  assert.equal(typeof await takePlace(locks), 'function');
  assert.equal(await takePlace(locks), null);
});

test('where nobody can count, everyone has a place', async () => {
  const forbidden = { request: () => Promise.reject(new DOMException('no', 'SecurityError')) };
  for (const locks of [null, forbidden]) {
    for (let i = 0; i < 5; i++) assert.equal(typeof await takePlace(locks), 'function');
  }
});

test('a request ends at its limit, and says so', async (t) => {
  t.mock.method(globalThis, 'fetch', (url, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  globalThis.sessionStorage = { getItem: () => null };
  // The limit's own timer keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  try {
    await assert.rejects(get('status', { limit: 1 }), (error) => error instanceof Failure && error.status === 0 && /did not answer within 0.001 s; try again/.test(error.message));
    const control = new AbortController();
    const asked = get('status', { signal: control.signal });
    control.abort();
    await assert.rejects(asked, { name: 'AbortError' });
  } finally {
    clearInterval(alive);
    delete globalThis.sessionStorage;
  }
});
