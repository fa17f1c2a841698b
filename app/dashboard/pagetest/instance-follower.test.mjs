import assert from 'node:assert/strict';
import { test } from 'node:test';

import { follower } from '../page/follower.js';

// made is a follower with a poller that notes what it is told. answer() is an
// answer that comes.
function made() {
  const told = [];
  const drawn = [];
  const note = (name) => (...args) => told.push([name, ...args]);
  let answer;
  const followed = follower({ kinds: (id) => [`all of ${id}`], draw: (found) => drawn.push(found) }, (changed) => {
    answer = () => changed('queue', {});
    return { start: note('start'), stop: note('stop'), pause: note('pause'), update: note('update'), want: note('want') };
  });
  const since = () => told.splice(0).map((one) => one.map((arg) => arg.id ?? arg));
  return { followed, drawn, since, answer: () => answer() };
}

const of = (id, more = {}) => ({ instance: { id }, ended: false, paused: false, ...more });

test('one that lives is asked until it is hidden', () => {
  const { followed, drawn, since, answer } = made();
  answer();
  followed.redraw();
  assert.deepEqual(drawn, [], 'nothing is drawn before it is shown');
  const first = of('a');
  followed.show(first);
  assert.deepEqual(since(), [['start', 'a', ['all of a'], { paused: false }]]);
  const second = of('a');
  followed.update(second);
  assert.deepEqual(since(), [['pause', false], ['update', 'a']]);
  answer();
  followed.redraw();
  assert.deepEqual(drawn, [first, second, second, second]);
  assert.equal(followed.found, second);
  followed.want('stats');
  followed.hide();
  assert.deepEqual(since(), [['want', 'stats'], ['stop']]);
  answer();
  assert.equal(followed.found, null);
  assert.equal(drawn.length, 4, 'nor after it is hidden');
});

test('one that cannot be asked now is paused, from the start on too', () => {
  const { followed, since } = made();
  followed.show(of('a', { paused: true }));
  assert.deepEqual(since(), [['start', 'a', ['all of a'], { paused: true }]]);
  followed.update(of('a'));
  followed.update(of('a', { paused: true }));
  assert.deepEqual(since(), [['pause', false], ['update', 'a'], ['pause', true], ['update', 'a']]);
});

test('one that has ended is drawn, and not asked', () => {
  const { followed, drawn, since } = made();
  followed.show(of('a', { ended: true }));
  followed.update(of('a', { ended: true }));
  assert.deepEqual(since(), []);
  followed.show(of('b'));
  followed.update(of('b', { ended: true }));
  followed.update(of('b', { ended: true }));
  assert.deepEqual(since(), [['start', 'b', ['all of b'], { paused: false }], ['stop']], 'it is told once that it has ended');
  assert.equal(drawn.length, 5);
});
