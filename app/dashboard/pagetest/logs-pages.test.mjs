import assert from 'node:assert/strict';
import test from 'node:test';

import { Pages, atFirst } from '../page/loglines.js';

// Log is Serena's LogBuffer.
class Log {
  messages = [];
  max = -1;
  constructor(most) { this.most = most; }
  append(n) {
    for (let i = 0; i < n; i++) this.messages.push(`message ${++this.max}`);
    this.messages = this.messages.slice(-this.most);
  }
  clear() { this.messages = []; this.max = -1; }
  get(from) {
    const first = this.max - this.messages.length + 1;
    return { messages: from <= first ? [...this.messages] : this.messages.slice(from - first), max_idx: this.max, active_project: null };
  }
}

// read asks until there is nothing more to ask for at once.
function read(pages, log) {
  const all = { messages: [], cleared: 0, lost: 0 };
  for (let again = true, n = 0; again; n++) {
    assert.ok(n < 4, 'asks for ever');
    const got = pages.take(log.get(pages.ask()));
    all.messages.push(...got.messages);
    all.cleared += got.cleared;
    all.lost += got.lost;
    again = got.again;
  }
  return all;
}

test('an empty log, then its first messages', () => {
  const log = new Log(2500), pages = new Pages();
  assert.deepEqual(read(pages, log).messages, []);
  assert.ok(pages.whole);
  log.append(2);
  assert.deepEqual(read(pages, log).messages, ['message 0', 'message 1']);
  assert.deepEqual(read(pages, log).messages, []);
});

test('it begins with the newest and goes back', () => {
  const log = new Log(2500), pages = new Pages();
  log.append(1300);
  const first = read(pages, log).messages;
  assert.equal(first.length, atFirst);
  assert.equal(first[0], 'message 800');
  assert.equal(pages.whole, false);
  const steps = [];
  while (!pages.whole) {
    const asked = pages.askEarlier();
    steps.push(pages.takeEarlier(asked, log.get(asked)));
    log.append(1); // meanwhile it goes on
  }
  assert.deepEqual(steps.map((step) => [step.length, step[0]]), [[500, 'message 300'], [300, 'message 0']]);
  assert.deepEqual(read(pages, log).messages, ['message 1300', 'message 1301']);
});

test('it goes back only as far as Serena keeps', () => {
  const log = new Log(700), pages = new Pages();
  log.append(2000);
  read(pages, log);
  const asked = pages.askEarlier();
  assert.equal(pages.takeEarlier(asked, log.get(asked)).length, 200);
  assert.ok(pages.whole);
  const again = pages.askEarlier();
  assert.deepEqual(pages.takeEarlier(again, log.get(again)), []);
});

test('a log that keeps less than the first page', () => {
  const log = new Log(10), pages = new Pages();
  log.append(2000);
  assert.equal(read(pages, log).messages.length, 10);
  assert.ok(pages.whole);
  assert.equal(pages.first, 1990);
});

test('what was dropped before it was asked for is told', () => {
  const log = new Log(100), pages = new Pages();
  log.append(50);
  read(pages, log);
  log.append(130);
  const got = read(pages, log);
  assert.equal(got.messages.length, 100);
  assert.equal(got.lost, 30);
});

test('a log that is shorter than it was has been cleared', () => {
  const log = new Log(2500), pages = new Pages();
  log.append(30);
  read(pages, log);
  log.clear();
  assert.deepEqual(read(pages, log), { messages: [], cleared: 1, lost: 0 });
  log.append(1);
  assert.deepEqual(read(pages, log), { messages: ['message 0'], cleared: 0, lost: 0 });
  log.clear();
  log.append(1);
  assert.deepEqual(read(pages, log).messages, [], 'as long as before: nothing tells');
  log.append(40);
  read(pages, log);
  log.clear();
  log.append(3);
  assert.deepEqual(read(pages, log), { messages: ['message 0', 'message 1', 'message 2'], cleared: 1, lost: 0 });
});

test('an answer for earlier ones after a clearing is not taken', () => {
  const log = new Log(2500), pages = new Pages();
  log.append(1300);
  read(pages, log);
  log.clear();
  log.append(3);
  const asked = pages.askEarlier();
  assert.deepEqual(pages.takeEarlier(asked, log.get(asked)), []);
  assert.equal(read(pages, log).cleared, 1);
});

test('something else than a log', () => {
  const pages = new Pages();
  assert.throws(() => pages.take({ status: 'error', message: 'no log here' }), /no log here/);
  for (const answer of [null, [], {}, { messages: 'x', max_idx: 1 }, { messages: [] }, { messages: [], max_idx: 1.5 }]) {
    assert.throws(() => pages.take(answer), /something else than its log/);
  }
});

test('any history of a log is shown in order, without doubles', () => {
  let seed = 3;
  const next = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
  for (let round = 0; round < 200; round++) {
    const log = new Log(1 + next(900)), pages = new Pages();
    let held = [];
    for (let i = 0; i < 40; i++) {
      if (next(3)) log.append(next(700));
      if (next(2)) {
        const got = read(pages, log);
        held = [...held, ...got.messages];
      } else if (pages.known && held.length > 0) {
        const asked = pages.askEarlier();
        held = [...pages.takeEarlier(asked, log.get(asked)), ...held];
      }
      const numbers = held.map((message) => Number(message.slice(8)));
      numbers.forEach((n, at) => assert.ok(at === 0 || n > numbers[at - 1], `${n} after ${numbers[at - 1]}`));
      if (held.length > 0) assert.deepEqual([numbers[0], numbers.at(-1)], [pages.first, pages.next - 1]);
    }
  }
});
