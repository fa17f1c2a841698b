// Putting away one that has ended: only after asking where that loses what
// somebody wrote.

import { confirm } from './dialog.js';
import { drafts } from './drafts.js';
import { store } from './store.js';

let leave = () => {};

// beforeDismissal sets what is done before an id goes: the tabs move on to the
// neighbour, which is known only while it is there.
export function beforeDismissal(fn) {
  leave = fn;
}

// dismiss puts instances away that have ended, and resolves to whether it did.
export async function dismiss(instances) {
  const unsaved = instances.flatMap((one) => drafts.unsavedOf(one.id));
  if (unsaved.length > 0 && !(await discard(unsaved))) return false;
  for (const { id } of instances) {
    drafts.forget(id);
    leave(id);
    store.dismiss(id);
  }
  return true;
}

function discard(names) {
  const which = names.length === 1 ? names[0] : `${names.length} memories`;
  return confirm({ title: `Discard the changes to ${which}?`, body: 'What you wrote is not saved, and is lost.', action: 'Discard and dismiss', cancel: 'Keep', danger: true });
}
