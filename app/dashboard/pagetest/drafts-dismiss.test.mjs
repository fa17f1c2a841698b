import assert from 'node:assert/strict';
import { test } from 'node:test';

import { draftOf, forget, setDraft, unsavedOf } from '../page/drafts.js';

test('what would be lost with one server is told, and given up with it alone', () => {
  setDraft('a', 'lamps', { base: 'old', text: 'new' });
  setDraft('a', 'oil', { base: 'same', text: 'same' });
  setDraft('b', 'lamps', { base: null, text: 'begun' });
  assert.deepEqual(unsavedOf('a'), ['lamps']);
  assert.deepEqual(unsavedOf('c'), []);
  forget('a');
  assert.deepEqual(unsavedOf('a'), []);
  assert.equal(draftOf('a', 'oil'), null);
  assert.deepEqual(unsavedOf('b'), ['lamps']);
});
