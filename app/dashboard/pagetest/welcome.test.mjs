import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AtLogin, standing } from '../page/atlogin.js';
import { Failure } from '../page/http.js';
import { does, leaves, offer, sees } from '../page/welcomewords.js';

const off = { on: false, can: true, how: null, why: null };
const on = { on: true, can: true, how: 'systemd user unit', why: null };

test('start at login says what does it', () => {
  for (const [login, want] of [
    [off, 'Off: you start it yourself after each login.'],
    [on, 'By a systemd user unit.'],
    [{ ...on, how: 'autostart entry' }, 'By an autostart entry.'],
    [{ ...on, how: null }, ''],
    [{ ...on, can: false, why: 'it is enabled for all users; ask who administers this machine' }, 'By a systemd user unit. It is enabled for all users; ask who administers this machine.'],
    [{ ...off, can: false, why: 'There is no home directory.' }, 'There is no home directory.'],
    [{ ...off, why: '' }, 'Off: you start it yourself after each login.'],
  ]) assert.equal(standing(login), want, JSON.stringify(login));
});

// server answers as lamplighter would, when it is told to.
function server() {
  const waiting = [];
  const wait = (what) => new Promise((resolve, reject) => { waiting.push({ what, resolve, reject }); });
  const login = new AtLogin({ ask: () => wait('ask'), order: (wish) => wait(wish ? 'on' : 'off') });
  const seen = [];
  login.subscribe(({ value, trouble, working }) => seen.push([value?.on ?? null, trouble, working]));
  return { login, waiting, seen, next: () => waiting.shift() };
}

test('it is switched when lamplighter says so', async () => {
  const { login, seen, next } = server();
  login.take(off);
  const done = login.set(true);
  assert.equal(await login.set(false), false, 'one order at a time');
  const order = next();
  assert.equal(order.what, 'on');
  assert.equal(login.value.on, false);
  order.resolve(on);
  assert.equal(await done, true);
  assert.deepEqual(seen, [[null, '', false], [false, '', false], [false, '', true], [true, '', false]]);
});

test('an answer from before an order is not taken', async () => {
  const { login, next } = server();
  const looked = login.look();
  const asked = next();
  const done = login.set(true);
  next().resolve(on);
  await done;
  asked.resolve(off);
  await looked;
  assert.equal(login.value.on, true);
  const order = login.set(false);
  login.take(on);
  next().resolve(off);
  await order;
  assert.equal(login.value.on, false);
});

test('what was not switched says why, and how it stands then', async () => {
  const { login, next } = server();
  login.take(off);
  const done = login.set(true);
  next().reject(new Failure('no space left on device; make room', 500));
  await Promise.resolve();
  await new Promise(setImmediate);
  next().resolve({ ...off, can: false, why: 'The disk is full.' });
  assert.equal(await done, false);
  assert.equal(login.trouble, 'No space left on device; make room.');
  assert.deepEqual([login.value.on, login.value.can, login.working], [false, false, false]);
  const again = login.set(true);
  assert.equal(login.trouble, '', 'it is a new order');
  next().resolve(on);
  assert.equal(await again, true);
});

test('an answer that differs from the order is no success', async () => {
  const { login, next } = server();
  login.take(off);
  const done = login.set(true);
  next().resolve(off);
  assert.equal(await done, false);
  assert.equal(login.value.on, false);
});

test('what cannot be asked says why until it can', async () => {
  const { login, next } = server();
  const first = login.look();
  next().reject(new Failure('start at login cannot be seen from here', 503));
  await first;
  assert.equal(login.value, null);
  assert.equal(login.trouble, 'Start at login cannot be seen from here.');
  const second = login.look();
  next().resolve(on);
  await second;
  assert.deepEqual([login.value, login.trouble], [on, '']);
  const third = login.look();
  next().reject(new Failure('Lamplighter does not answer.', 0));
  await third;
  assert.deepEqual([login.value, login.trouble], [on, ''], 'what is known stays');
});

const rule = (name, words, more = {}) => ({ name, words, on: true, set: true, ...more });
const orphans = rule('orphans', 'End orphaned servers after 10 min');
const idle = rule('idle', 'End idle servers after 30 min');
const memory = rule('memory', 'Tell of servers that use more than 2.0 GB');
const policy = (rules, more = {}) => ({ active: true, paused: false, rules, ...more });

test('what it does by itself is what its policies are', () => {
  for (const [standing, want] of [
    [undefined, 'It ends nothing by itself; it only tells you.'],
    [policy([]), 'It ends nothing by itself; it only tells you.'],
    [policy([memory, { ...orphans, on: false }, { ...idle, set: false }]), 'It ends nothing by itself; it only tells you.'],
    [policy([orphans, memory]), 'It ends orphaned servers after 10 min, and shows that minutes before. Orphaned means that its client is proven to be gone. Of everything else it only tells you.'],
    [policy([idle]), 'It ends idle servers after 30 min, and shows that minutes before. Of everything else it only tells you.'],
    [policy([orphans, idle], { paused: true }), 'Its policies are paused, so it ends nothing by itself now.'],
    [policy([orphans], { active: false }), 'Another lamplighter acts on the policies, so this one ends nothing by itself.'],
  ]) assert.equal(does(standing), want);
  assert.match(does(policy([orphans, idle])), /^It ends orphaned servers after 10 min and idle servers after 30 min, /);
  assert.match(does(policy([orphans, idle, rule('memory', 'End idle servers that use more than 2.0 GB')])), /10 min, idle servers after 30 min and idle servers that/);
});

test('what it sees has a number', () => {
  assert.match(sees(0), /None runs now/);
  assert.match(sees(1), /One runs now\.$/);
  assert.match(sees(1234), /1,234 run now\.$/);
  assert.match(leaves, /no check for updates/);
});

test('what setup could change is offered with a number', () => {
  for (const nobody of [null, undefined]) assert.equal(offer(nobody), '');
  assert.match(offer(0), /nothing to change/);
  assert.match(offer(1), /^1 client starts /);
  assert.match(offer(3), /^3 clients start /);
});
