// @ts-check
// Memories being edited, and what a change means.

import { signal } from './preact.js';

// homeOf is whose memories a server has: those of its project, which a server that is
// woken or started later has too.
export const homeOf = (instance) => instance.project_root || instance.id;

// drafts are {base, text} by home and name, so that a look at another tab loses
// nothing; base is what the memory was when editing began, null for a new one.
const drafts = signal(/** @type {Map<string, {base: string | null, text: string}>} */ (new Map()));

const key = (home, name) => JSON.stringify([home, name]);

export const draftOf = (home, name) => drafts.value.get(key(home, name)) ?? null;

// setDraft keeps a draft; null gives it up.
export function setDraft(home, name, draft) {
  const all = new Map(drafts.peek());
  if (draft) all.set(key(home, name), draft);
  else all.delete(key(home, name));
  drafts.value = all;
}

// unsavedOf are the names of memories that would be lost, of one home.
export const unsavedOf = (home) => unsaved().map((at) => JSON.parse(at)).filter(([of]) => of === home).map(([, name]) => name);

// unsaved are all that would be lost.
export const unsaved = () => [...drafts.peek()].filter(([, draft]) => changed(draft)).map(([at]) => at);

// forget gives up all drafts of a home.
export function forget(home) {
  for (const at of drafts.peek().keys()) if (JSON.parse(at)[0] === home) setDraft(home, JSON.parse(at)[1], null);
}

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
