// The frame of a part of the page: its heading, a note about the age of what
// it shows, and its body. A part that fails says so in its own frame.

import { h, replace, setText } from './dom.js';
import { unknown } from './format.js';
import { time } from './times.js';

let serial = 0;

// section makes a frame. tools are controls at the end of the heading's line.
export function section(title, { kind = '', tools = [] } = {}) {
  const heading = h('h2', { id: `section-${++serial}` }, title);
  const note = h('p', { class: 'section-note cut' });
  const body = h('div', { class: 'section-body' });
  const element = h('section', { class: `card section ${kind}`, 'aria-labelledby': heading.id },
    h('div', { class: 'section-head' }, heading, note, ...tools), body);
  return { element, heading, body, ...frame({ body, note, element }) };
}

// folded makes a frame that is closed until somebody opens it, and remembers
// which are open. count stands beside its title.
export function folded(title, { name, opened = () => {} }) {
  const number = h('span', { class: 'fold-count' });
  const note = h('p', { class: 'section-note' });
  // It scrolls where it is long, which the keyboard must reach.
  const body = h('div', { class: 'section-body', tabindex: 0, role: 'group', 'aria-label': title });
  const element = h('details', { class: 'card fold', open: openOnes().has(name) },
    h('summary', null, h('h2', null, title), number), note, body);
  element.addEventListener('toggle', () => {
    remember(name, element.open);
    if (element.open) opened();
  });
  return { element, body, count: (text) => setText(number, text), ...frame({ body, note, element }) };
}

// frame tells what a record of an answer (kept.js) means for a part.
function frame({ body, note, element }) {
  const placeholder = h('p', { class: 'section-empty muted' });
  let noted = '';

  function tell(key, ...children) {
    if (noted === key) return;
    noted = key;
    replace(note, ...children);
    note.title = note.textContent;
  }

  // condition says how old the body is, and returns whether it may be filled;
  // if not, the part says why, or nothing while an answer is still to come.
  function condition(record, { ended, silent, version }) {
    const { value, at, trouble } = record;
    const known = value !== undefined;
    const why = ended ? '' : trouble ? trouble.short : silent ? 'it does not answer' : '';
    element.toggleAttribute('data-old', known && why !== '');
    element.setAttribute('aria-busy', String(!known && !trouble && !ended));
    if (known) {
      if (why) tell(`${+at} ${why}`, 'as of ', time(at), `: ${why}`);
      else tell('');
      return true;
    }
    tell('');
    if (ended) setText(placeholder, 'It was not read before the server ended.');
    else if (trouble?.absent) setText(placeholder, `Not offered by ${version}.`);
    else if (trouble) setText(placeholder, silent ? unknown : trouble.text); // the header says why, once
    else return false;
    body.replaceChildren(placeholder);
    return false;
  }

  return { condition };
}

// skeleton is grey lines in place of text that is still to come.
export function skeleton(lines) {
  return h('div', { class: 'skeleton', 'aria-hidden': 'true' }, Array.from({ length: lines }, () => h('div', { class: 'skeleton-line' })));
}

// versionOf names a server's version in a sentence.
export function versionOf(instance, overview) {
  const version = instance.version ?? overview?.version;
  return version ? `Serena ${version}` : 'this version of Serena';
}

const storageName = 'lamplighter-open';

function openOnes() {
  try {
    return new Set(JSON.parse(localStorage.getItem(storageName) ?? '[]'));
  } catch {
    return new Set();
  }
}

function remember(name, open) {
  const all = openOnes();
  if (all.has(name) === open) return;
  if (open) all.add(name);
  else all.delete(name);
  try {
    localStorage.setItem(storageName, JSON.stringify([...all]));
  } catch {
    // Without storage it lasts as long as the page.
  }
}
