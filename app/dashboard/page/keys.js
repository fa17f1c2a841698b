// @ts-check
// Keyboard shortcuts: single characters, and two after each other as in "g o".
// They rest while somebody types in a field or a dialog is open.

import { html, useEffect, useRef } from './preact.js';
import { tell } from './ui.js';

const patience = 1_000; // ms between two keys that belong together

// Where shortcuts are listed, in this order.
const groups = ['Everywhere', 'Tabs', 'Servers', 'This view'];

const bound = /** @type {{key: string, group: string, description: string, run: (event: KeyboardEvent) => void}[]} */ ([]);

// useKey lists a shortcut under `?` and calls run for it while its component is
// shown. Of several with the same key the latest gets it.
export function useKey(key, group, description, run, on = true) {
  const newest = useRef(run);
  newest.current = run;
  useEffect(() => {
    if (!on) return undefined;
    const one = { key, group, description, run: (event) => newest.current(event) };
    bound.push(one);
    return () => { bound.splice(bound.indexOf(one), 1); };
  }, [key, on]);
}

// match finds what the keys typed so far mean: one of list, 'more' when they
// begin one, or null.
export function match(list, typed) {
  return list.findLast((one) => one.key === typed) ?? (list.some((one) => one.key.startsWith(`${typed} `)) ? 'more' : null);
}

let typed = '';
let since = 0;

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key.length !== 1 || event.key === ' ') return;
  if (typing(event.target) || document.querySelector('dialog[open]')) return;
  let keys = typed && event.timeStamp - since < patience ? `${typed} ${event.key}` : event.key;
  let found = match(bound, keys);
  if (!found && keys !== event.key) {
    keys = event.key;
    found = match(bound, keys);
  }
  typed = found === 'more' ? keys : '';
  since = event.timeStamp;
  if (!found) return;
  event.preventDefault();
  if (found !== 'more') found.run(event);
}

function typing(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'range'].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

// Keys that no shortcut of ours stands for, because the focus decides.
const others = [
  { group: 'Everywhere', key: 'Tab', description: 'to the next control; on a tab, into its page' },
  { group: 'Everywhere', key: 'Enter', description: 'open the tab or the link' },
  { group: 'Everywhere', key: 'Esc', description: 'close a dialog; in a filter: clear it' },
  { group: 'Tabs', key: '← → Home End', description: 'between tabs' },
  { group: 'Tabs', key: 'Delete', description: 'on the tab of an ended server: dismiss it' },
];

// showKeys lists everything that can be done here and now.
export function showKeys() {
  const all = [...bound.filter((one) => match(bound, one.key) === one), ...others];
  return tell({
    title: 'Keyboard shortcuts',
    body: html`<div class="keys">${groups.map((group) => {
      const here = all.filter((one) => one.group === group).sort((a, b) => a.key.localeCompare(b.key));
      return here.length > 0 && html`<h3>${group}</h3><dl>${here.map(({ key, description }) => html`<div>
        <dt>${key.split(' ').map((each) => html`<kbd>${each}</kbd> `)}</dt><dd>${description}</dd></div>`)}</dl>`;
    })}</div>`,
  });
}

globalThis.document?.addEventListener('keydown', pressed);
