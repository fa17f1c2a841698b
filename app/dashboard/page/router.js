// The address of the page: #/4711/logs, #/clients, #/workspaces. Links are addresses, so Back works and
// any view can be kept as a bookmark.

import { store } from './store.js';

export const clientsWord = 'clients'; // not an instance, whose words are numbers
export const workspacesWord = 'workspaces'; // likewise

export const sections = ['logs', 'history', 'events', 'memories'];

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

class Router {
  #readers = new Set();

  get route() {
    return parse(globalThis.location?.hash ?? '');
  }

  // start tells readers from now on.
  start() {
    addEventListener('hashchange', () => this.#tell());
  }

  go(word, section = '') {
    const wanted = address(word, section);
    if (location.hash !== wanted) location.hash = wanted;
  }

  // renew changes the address without a new entry of the history.
  renew(word, section = '') {
    history.replaceState(null, '', address(word, section));
    this.#tell();
  }

  // word is what stands for an instance in an address: the pid, which people
  // know, and the id where there is none or another has it now.
  word(instance) {
    const pid = instance.pid ? String(instance.pid) : '';
    const found = store.find(pid);
    return found && found.instance.id !== instance.id ? instance.id : pid || instance.id;
  }

  link(instance, section = '') {
    return address(this.word(instance), section);
  }

  subscribe(fn) {
    this.#readers.add(fn);
    return () => this.#readers.delete(fn);
  }

  #tell() {
    for (const fn of [...this.#readers]) fn(this.route);
  }
}

export const router = new Router();
