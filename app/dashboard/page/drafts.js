// @ts-check
// Memories being edited, and what a change means. It knows nothing of the page.

// homeOf is whose memories a server has: those of its project, which a server that is
// woken or started later has too.
export const homeOf = (instance) => instance.project_root || instance.id;

// Drafts holds {base, text} by home and name; base is what the memory was
// when editing began, null for a new one.
export class Drafts {
  #all = new Map();

  get(id, name) {
    return this.#all.get(key(id, name)) ?? null;
  }

  set(id, name, draft) {
    this.#all.set(key(id, name), draft);
  }

  delete(id, name) {
    this.#all.delete(key(id, name));
  }

  // move follows a memory that got another name.
  move(id, from, to) {
    const draft = this.get(id, from);
    this.delete(id, from);
    if (draft) this.set(id, to, draft);
  }

  // unsavedOf are the names of memories of a home that would be lost.
  unsavedOf(id) {
    return [...this.#all].filter(([at, draft]) => JSON.parse(at)[0] === id && changed(draft)).map(([at]) => JSON.parse(at)[1]);
  }

  // forget gives up all drafts of a home.
  forget(id) {
    for (const at of [...this.#all.keys()]) if (JSON.parse(at)[0] === id) this.#all.delete(at);
  }

  // unsaved tells whether anything would be lost.
  unsaved() {
    return [...this.#all.values()].some(changed);
  }
}

// drafts are those of the page, so that a look at another tab loses nothing.
export const drafts = new Drafts();

const key = (id, name) => JSON.stringify([id, name]);

export function changed(draft) {
  return draft !== null && draft.text !== (draft.base ?? '');
}

// conflict tells whether saving would overwrite what somebody else wrote: now
// is the memory as it is, null when it does not exist.
export function conflict(draft, now) {
  return now !== draft.base && now !== draft.text;
}

// nameTrouble says what is wrong with a name for a memory, '' if nothing is.
export function nameTrouble(name, names) {
  const wanted = name.trim();
  if (wanted === '') return 'A memory needs a name.';
  const parts = wanted.split('/');
  if (parts.some((part) => part === '.' || part === '..')) return 'A name cannot contain . or .. as a part.';
  if (parts.includes('')) return 'The parts of a name stand between single slashes, as in topic/name.';
  if (names.includes(wanted)) return `There is a memory named ${wanted} already.`;
  return '';
}

// ordered puts names as a reader expects them: by topic, names before topics.
export function ordered(names) {
  return names.toSorted((a, b) => {
    const [x, y] = [a.split('/'), b.split('/')];
    for (let i = 0; i < Math.min(x.length, y.length); i++) {
      const leaf = Number(i === y.length - 1) - Number(i === x.length - 1);
      if (leaf) return leaf;
      if (x[i] !== y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return x.length - y.length;
  });
}
