// What the page has to say: a note below everything, which covers nothing, and
// one for screen readers.

import { h, setText } from './dom.js';

const readingTime = 5_000; // ms; a bad one stays until it is dismissed
const most = 4;

// say shows a sentence, and announces it.
// The result is the note: tell changes its words, and whether its action is
// still offered; remove takes it away. With stays only that does. action is
// {words, run} of a button.
export function say(text, { kind = 'plain', stays = kind === 'bad', action = null } = {}) {
  const list = document.getElementById('notices');
  const words = h('p', { class: 'notice-text', dir: 'auto' }, text);
  const button = action && h('button', { type: 'button', class: 'small', onclick: () => { button.hidden = true; action.run(); } }, action.words);
  const note = h('div', { class: `notice notice-${kind}` }, words, button,
    h('button', { type: 'button', class: 'quiet small', 'aria-label': 'Dismiss', title: 'Dismiss', onclick: () => note.remove() }, '×'));
  list.append(note);
  while (list.childElementCount > most) list.firstElementChild.remove();
  note.tell = (newer, offered = true) => {
    setText(words, newer);
    if (button) button.hidden = !offered;
  };
  if (!stays) leave(note);
  return note;
}

// leave takes a note away after a while, but not from under the pointer or the
// focus.
function leave(note) {
  let timer = setTimeout(() => note.remove(), readingTime);
  const hold = () => clearTimeout(timer);
  const go = () => {
    clearTimeout(timer);
    timer = setTimeout(() => note.remove(), readingTime);
  };
  for (const begin of ['pointerenter', 'focusin']) note.addEventListener(begin, hold);
  for (const end of ['pointerleave', 'focusout']) note.addEventListener(end, go);
}

let waiting = [];
let timer = 0;

// announce tells screen readers alone. What comes at once is told together.
export function announce(text) {
  if (!waiting.includes(text)) waiting.push(text);
  if (timer) return;
  timer = setTimeout(() => {
    timer = 0;
    const words = waiting.length > 3 ? [...waiting.slice(0, 3), `and ${waiting.length - 3} more`] : waiting;
    setText(document.getElementById('announcer'), words.join('. '));
    waiting = [];
  }, 600);
}
