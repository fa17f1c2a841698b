// The controls above a log.

import { h, setAttribute, setText } from './dom.js';
import { mostHits } from './logsearch.js';
import { count } from './format.js';

const name = 'lamplighter-logs'; // of what is kept

const levelWords = [
  ['DEBUG', 'All levels'],
  ['INFO', 'Info and above'],
  ['WARNING', 'Warnings and errors'],
  ['ERROR', 'Errors only'],
];

// logBar makes them. on has a function for each: level(word), search(text),
// step(1 or -1), follow(bool), wrap(bool), copy(), download().
export function logBar(on) {
  const kept = read();
  const level = h('select', { class: 'log-levels', 'aria-label': 'Level', title: 'Which messages are shown', onchange: () => on.level(keep('level', level.value)) },
    levelWords.map(([word, text]) => h('option', { value: word }, text)));
  level.value = levelWords.some(([word]) => word === kept.level) ? kept.level : 'DEBUG';

  const search = h('input', {
    type: 'search', class: 'log-search', placeholder: 'Search', 'aria-label': 'Search the log', title: 'Search the log (/)', 'aria-keyshortcuts': '/', autocomplete: 'off', spellcheck: 'false',
    oninput: () => on.search(search.value),
    onkeydown: (event) => {
      if (event.isComposing) return;
      if (event.key === 'Enter') {
        event.preventDefault();
        on.step(event.shiftKey ? -1 : 1);
      } else if (event.key === 'Escape' && search.value) {
        event.preventDefault();
        event.stopPropagation();
        search.value = '';
        on.search('');
      }
    },
  });
  const found = h('span', { class: 'log-found muted', role: 'status' });
  const step = (by, sign, label) => h('button', { type: 'button', class: 'icon', 'aria-label': label, title: label, disabled: true, onclick: () => on.step(by) }, sign);
  const previous = step(-1, '↑', 'Previous match (Shift+Enter)');
  const next = step(1, '↓', 'Next match (Enter)');

  const follow = toggle('Follow', 'Stay at the newest message (f)', true, on.follow);
  const wrap = toggle('Wrap', 'Break long lines', kept.wrap !== false, (wraps) => {
    setAttribute(wrap, 'aria-pressed', String(keep('wrap', wraps)));
    on.wrap(wraps);
  });
  const copy = h('button', { type: 'button', title: 'Copy the selected messages, or all that are shown', onclick: on.copy }, 'Copy');
  const download = h('button', { type: 'button', title: 'Save the whole log as a text file', onclick: on.download }, 'Download');
  const held = h('span', { class: 'log-held muted' });

  return {
    element: h('div', { class: 'log-bar', role: 'group', 'aria-label': 'Log controls' },
      level,
      h('span', { class: 'log-searching' }, search, h('kbd', { class: 'log-key', 'aria-hidden': 'true' }, '/'), found, previous, next),
      held,
      h('span', { class: 'log-actions' }, follow, wrap, copy, download)),
    search, download,
    level: () => level.value,
    wraps: () => wrap.getAttribute('aria-pressed') === 'true',
    setFollow: (following) => setAttribute(follow, 'aria-pressed', String(following)),
    setHeld: (shown, all) => setText(held, shown === all ? words(all) : `${count(shown)} of ${words(all)}`),
    setFound: (at, hits) => {
      setText(found, foundWords(search.value, at, hits));
      previous.disabled = next.disabled = hits === 0;
    },
  };
}

// toggle makes a button that is pressed or not; fn decides about that.
function toggle(text, title, pressed, fn) {
  const button = h('button', { type: 'button', title, 'aria-pressed': String(pressed), onclick: () => fn(button.getAttribute('aria-pressed') !== 'true') }, text);
  return button;
}

function words(n) {
  return n === 1 ? '1 message' : `${count(n)} messages`;
}

function foundWords(query, at, hits) {
  if (!query) return '';
  if (hits === 0) return 'None found';
  const all = hits >= mostHits ? `${count(mostHits)} and more` : count(hits);
  return at < 0 ? `${all} found` : `${count(at + 1)} of ${all}`;
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}

function keep(key, value) {
  try {
    localStorage.setItem(name, JSON.stringify({ ...read(), [key]: value }));
  } catch {
    // Without storage it lasts as long as the page.
  }
  return value;
}
