// @ts-check
// The address of the page: #/4711/logs, #/clients, #/workspaces. Links are
// addresses, so Back works and any view can be kept as a bookmark.

import { signal } from './preact.js';
import { find } from './store.js';

const sections = ['logs', 'history', 'events', 'memories'];

// parse reads a fragment. What is not understood means the overview.
export function parse(hash) {
  const [word = '', section = ''] = hash.replace(/^#?\/?/, '').split('/').map(decode);
  return { word, section: word && sections.includes(section) ? section : '' };
}

export function address(word, section = '') {
  if (!word) return '#/';
  return '#/' + encodeURIComponent(word) + (section ? '/' + section : '');
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone percent sign is text
  }
}

export const route = signal(parse(globalThis.location?.hash ?? ''));
const read = () => { route.value = parse(location.hash); };
globalThis.addEventListener?.('hashchange', read);

export function go(word, section = '') {
  const wanted = address(word, section);
  if (location.hash !== wanted) location.hash = wanted;
}

// renew changes the address without a new entry of the history.
export function renew(word, section = '') {
  history.replaceState(null, '', address(word, section));
  read();
}

// wordOf is what stands for an instance in an address: the pid, which people know,
// and the id where there is none or another has it now.
export function wordOf(instance) {
  const pid = instance.pid ? String(instance.pid) : '';
  const found = find(pid);
  return found && found.instance.id !== instance.id ? instance.id : pid || instance.id;
}

export const link = (instance, section = '') => address(wordOf(instance), section);
