// Which rows are selected, by id.

import { range } from './arrange.js';

// selection works on the ids that listed() returns; changed is called after
// each change by the user.
export function selection(listed, changed) {
  const ids = new Set();
  let last = null; // where a range begins

  return {
    has: (id) => ids.has(id),
    of: (instances) => instances.filter((one) => ids.has(one.id)),
    // set selects one or not, with extend all up to the one before.
    set(id, on, extend = false) {
      for (const one of extend && last !== null ? range(listed(), last, id) : [id]) {
        if (on) ids.add(one);
        else ids.delete(one);
      }
      last = id;
      changed();
    },
    all(on) {
      for (const id of listed()) {
        if (on) ids.add(id);
        else ids.delete(id);
      }
      changed();
    },
    clear() {
      ids.clear();
      changed();
    },
    // keep forgets those that are no more.
    keep(living) {
      const there = new Set(living);
      for (const id of ids) if (!there.has(id)) ids.delete(id);
    },
    // state is 'none', 'some' or 'all' of those listed.
    state() {
      const list = listed();
      const on = list.filter((id) => ids.has(id)).length;
      return on === 0 ? 'none' : on === list.length ? 'all' : 'some';
    },
  };
}
