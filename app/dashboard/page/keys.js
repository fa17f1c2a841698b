// Keyboard shortcuts: single characters, and two after each other as in "g o".
// They rest while somebody types in a field or a dialog is open.

import { h } from './dom.js';
import { tell } from './dialog.js';

const patience = 1_000; // ms between two keys that belong together

const bound = []; // {key, description, fn, when}

// bind lists a shortcut under `?` and calls fn for it. Where several have the
// same key, the latest whose when() is true gets it. The result unbinds.
export function bind(key, description, fn, { when = () => true } = {}) {
  const one = { key, description, fn, when };
  bound.push(one);
  return () => {
    const i = bound.indexOf(one);
    if (i >= 0) bound.splice(i, 1);
  };
}

// match finds what the keys typed so far mean: one of list, 'more' when they
// begin one, or null.
export function match(list, typed) {
  const exact = list.findLast((one) => one.key === typed && one.when());
  if (exact) return exact;
  return list.some((one) => one.key.startsWith(`${typed} `) && one.when()) ? 'more' : null;
}

// means tells whether a key calls fn as things are now.
export function means(key, fn) {
  return match(bound, key)?.fn === fn;
}

let typed = '';
let since = 0;

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key.length !== 1 || event.key === ' ') return;
  if (typing(event.target) || document.querySelector('dialog[open]')) return;
  const now = event.timeStamp;
  let keys = typed && now - since < patience ? `${typed} ${event.key}` : event.key;
  let found = match(bound, keys);
  if (!found && keys !== event.key) {
    keys = event.key;
    found = match(bound, keys);
  }
  typed = found === 'more' ? keys : '';
  since = now;
  if (!found) return;
  event.preventDefault();
  if (found !== 'more') found.fn(event);
}

function typing(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'range'].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

// Keys that no shortcut of ours stands for, because the focus decides.
const others = [
  ['Tab', 'to the next control; on a tab, into its page'],
  ['← → Home End', 'between tabs'],
  ['Enter', 'open the tab or the link'],
  ['Delete', 'on the tab of an ended server: dismiss it'],
  ['Esc', 'close a dialog; in a filter: clear it'],
];

// showKeys lists everything that can be done here and now. Of several with the
// same key it lists the one that the key calls.
export function showKeys() {
  const row = (keys, description) => [
    h('dt', null, keys.split(' ').map((key) => [h('kbd', null, key), ' '])),
    h('dd', null, description),
  ];
  const here = bound.filter((one) => match(bound, one.key) === one);
  return tell({
    title: 'Keyboard shortcuts',
    kind: 'dialog-keys',
    body: h('dl', { class: 'keys' }, here.map((one) => row(one.key, one.description)), others.map(([keys, description]) => row(keys, description))),
  });
}

if (globalThis.document) document.addEventListener('keydown', pressed);
