import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Drafts } from '../page/drafts.js';

test('what would be lost with one server is told, and given up with it alone', () => {
  const drafts = new Drafts();
  drafts.set('a', 'lamps', { base: 'old', text: 'new' });
  drafts.set('a', 'oil', { base: 'same', text: 'same' });
  drafts.set('b', 'lamps', { base: null, text: 'begun' });
  assert.deepEqual(drafts.unsavedOf('a'), ['lamps']);
  assert.deepEqual(drafts.unsavedOf('c'), []);
  drafts.forget('a');
  assert.deepEqual(drafts.unsavedOf('a'), []);
  assert.equal(drafts.get('a', 'oil'), null);
  assert.deepEqual(drafts.unsavedOf('b'), ['lamps']);
});
