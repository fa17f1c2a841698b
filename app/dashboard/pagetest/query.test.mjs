// What is asked, and when.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { Failure } from '../page/http.js';
import { Budget, Query, queryOf } from '../page/query.js';

const settle = async () => { for (let i = 0; i < 20; i++) await Promise.resolve(); };

// asks makes a query whose answers are given one by one.
function asks(options) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const query = new Query(options);
  const asked = [];
  query.ask = (signal) => new Promise((resolve, reject) => { asked.push({ signal, resolve, reject }); });
  const pass = async (ms) => {
    mock.timers.tick(ms);
    await settle();
  };
  const answer = async (value) => {
    if (value instanceof Error) asked.at(-1).reject(value);
    else asked.at(-1).resolve(value);
    await settle();
  };
  return { query, asked, pass, answer };
}

test('it asks while somebody follows it, and again when its time has come', async (t) => {
  t.after(() => mock.timers.reset());
  const { query, asked, pass, answer } = asks({ every: 3_000 });
  const [one, two] = [query.follow(), query.follow()];
  await pass(0);
  assert.equal(asked.length, 1, 'once for both');
  await answer(7);
  assert.equal(query.answer.value.value, 7);
  await pass(2_999);
  assert.equal(asked.length, 1);
  await pass(1);
  assert.equal(asked.length, 2);
  one();
  assert.equal(asked[1].signal.aborted, false);
  two();
  assert.equal(asked[1].signal.aborted, true, 'nobody waits for it');
  await pass(60_000);
  assert.equal(asked.length, 2);
  query.follow();
  await pass(0);
  assert.equal(asked.length, 3, 'its time has come meanwhile');
});

test('what a hidden page asks it takes back, although somebody still follows', async (t) => {
  t.after(() => mock.timers.reset());
  const { query, asked, pass } = asks({ every: 3_000 });
  const leave = query.follow();
  await pass(0);
  query.end();
  assert.equal(asked[0].signal.aborted, true);
  await pass(60_000);
  assert.equal(asked.length, 1);
  query.begin();
  await pass(0);
  assert.equal(asked.length, 2, 'shown again');
  leave();
  assert.equal(asked[1].signal.aborted, true);
});

test('what fails is asked later each time, and keeps what was known', async (t) => {
  t.after(() => mock.timers.reset());
  const { query, asked, pass, answer } = asks({ every: 60_000 });
  query.follow();
  await pass(0);
  await answer('known');
  await pass(60_000);
  for (const [i, wait] of [3_000, 6_000, 12_000, 20_000, 20_000].entries()) {
    await answer(new Failure('it hangs', 504));
    assert.deepEqual([query.answer.value.value, query.answer.value.trouble.short], ['known', 'it does not answer']);
    await pass(wait - 1);
    assert.equal(asked.length, i + 2);
    await pass(1);
  }
  await answer('again');
  assert.equal(query.answer.value.trouble, null);
  query.refresh();
  await pass(0);
  query.refresh();
  query.refresh();
  await answer('news');
  await pass(0);
  assert.equal(asked.length, 9, 'once more after the one under way');
});

test('what a server does not offer is not asked again', async (t) => {
  t.after(() => mock.timers.reset());
  const { query, asked, pass, answer } = asks({ every: 3_000 });
  query.follow();
  await pass(0);
  await answer(new Failure('not found', 404));
  query.refresh();
  await pass(100_000);
  assert.equal(asked.length, 1);
  assert.equal(query.answer.value.trouble.absent, true);
});

test('what does not change is asked once, other things whenever somebody begins to look', async (t) => {
  t.after(() => mock.timers.reset());
  for (const [options, want] of [[{ once: true }, 1], [{}, 2]]) {
    const { query, asked, pass, answer } = asks(options);
    const leave = query.follow();
    await pass(0);
    await answer('x');
    leave();
    query.follow();
    await pass(0);
    assert.equal(asked.length, want);
    mock.timers.reset();
  }
});

test('a key means one query', () => {
  assert.equal(queryOf('a', {}), queryOf('a', {}));
  for (let i = 0; i < 400; i++) queryOf(`many ${i}`, {});
  assert.notEqual(queryOf('many 0', {}), undefined);
});

test('an instance is asked in a burst at first, and then once a second', async (t) => {
  t.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const budget = new Budget();
  budget.begin();
  const made = [];
  const control = new AbortController();
  for (let i = 0; i < 9; i++) budget.turn(i === 7 ? control.signal : new AbortController().signal).then(() => made.push(i), () => made.push(`not ${i}`));
  await settle();
  assert.deepEqual(made, [0, 1, 2, 3, 4, 5]);
  control.abort();
  mock.timers.tick(1_000);
  await settle();
  assert.deepEqual(made.slice(6), ['not 7', 6]);
  budget.spend(); // a person's order puts the next one off
  mock.timers.tick(999);
  await settle();
  assert.equal(made.length, 8);
  mock.timers.tick(1);
  await settle();
  assert.equal(made.at(-1), 8);
  budget.begin();
  mock.timers.tick(1_000);
  for (let i = 10; i < 13; i++) budget.turn(new AbortController().signal).then(() => made.push(i));
  await settle();
  assert.equal(made.at(-1), 10, 'who flips through tabs gets no second burst');
});
