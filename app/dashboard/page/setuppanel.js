// The clients: their settings, the servers in them, and what can be changed. It
// looks when it is opened and when it is told to, and not in between.

import { h, keyed, replace, setAttribute, setText } from './dom.js';
import { sentence } from './format.js';
import { get } from './http.js';
import { announce } from './notice.js';
import { skeleton } from './section.js';
import { isFound, markOf, nameOf, notes, offers, running, shownFiles, standing, staysAlone, summary, wordOf } from './setup.js';
import { commandLine, entryMark } from './setupmarks.js';
import { change } from './setuporders.js';
import { time } from './times.js';

// clientsView returns {element, show({focus}), hide()}. With focus, whoever came
// by a link or a key goes on here. The focus goes to opener() when the view is
// hidden while it has it. heading is the id of its heading.
export function clientsView({ heading, opener }) {
  let clients = null; // as they were at the last look
  let at = null; // when that was
  let trouble = ''; // why a later look failed
  let looking = null; // AbortController of a look that is under way
  let shown = false;

  const title = h('h2', { id: heading, tabindex: -1 }, 'Clients');
  const short = h('p', { class: 'muted' });
  const age = h('p', { class: 'setup-age muted' });
  const again = h('button', { type: 'button', class: 'small', onclick: () => look() }, 'Look again');
  const failed = h('p', { class: 'setup-problem', role: 'alert', dir: 'auto' });
  const waiting = h('div', { class: 'card setup-waiting' }, h('p', { class: 'unseen' }, 'Reading the settings'), skeleton(4));
  const cards = h('div', { class: 'setup-cards' });
  const none = h('div', { class: 'setup-none' },
    h('p', null, 'No settings of a client were found.'),
    h('p', { class: 'muted' }, 'Install one of those below, add Serena to it, and look again. For any other file: ', h('code', null, 'lamplighter setup --file PATH')));
  const names = h('ul', { class: 'setup-missing' });
  const missingWords = h('summary', null);
  const missing = h('details', { class: 'setup-others' }, missingWords, names);
  const body = h('div', { 'aria-busy': 'false' }, failed, waiting, cards, none, missing);
  const element = h('div', { class: 'setup' },
    h('div', { class: 'setup-head' }, title, short, h('span', { class: 'grow' }), age, again),
    h('p', { class: 'setup-about muted' }, 'What your MCP clients start. A Serena that is shared runs once for all clients of a project. Lamplighter changes its command and nothing else, and can take that back.'),
    body);

  async function look({ quietly = false } = {}) {
    looking?.abort();
    const mine = looking = new AbortController();
    draw();
    try {
      const answer = await get('setup', { signal: mine.signal });
      clients = Array.isArray(answer?.clients) ? answer.clients : [];
      at = new Date();
      trouble = '';
      if (!quietly) announce(summary(clients) || 'No settings of a client were found');
    } catch (error) {
      if (error.name === 'AbortError') return;
      trouble = error.message;
    }
    looking = null;
    draw();
  }

  function draw() {
    const busy = looking !== null;
    setAttribute(body, 'aria-busy', String(busy));
    setAttribute(again, 'aria-disabled', String(busy));
    setText(again, busy ? 'Looking…' : trouble ? 'Try again' : 'Look again');
    setText(failed, trouble && (clients ? `${sentence(trouble)} What is shown is from before.` : sentence(trouble)));
    failed.hidden = trouble === '';
    waiting.hidden = clients !== null || !busy;
    const found = (clients ?? []).filter(isFound);
    const others = (clients ?? []).filter((one) => !isFound(one));
    setText(short, clients ? summary(clients) : '');
    if (at) replace(age, 'looked ', time(at));
    keyed(cards, found, (client) => client.id, makeCard, (node, client) => node.update(client));
    none.hidden = clients === null || found.length > 0;
    missing.hidden = others.length === 0;
    setText(missingWords, found.length > 0 ? `Not found: ${others.map((one) => one.name).join(', ')}` : 'Where Lamplighter looks');
    keyed(names, others, (client) => client.id, ({ name, files }) => h('li', null, h('strong', null, name),
      files.map((file) => h('span', { class: 'mono setup-path', dir: 'ltr' }, file.path))));
  }

  function makeCard({ id }) {
    return card(id, () => look({ quietly: true }));
  }

  function show({ focus }) {
    if (shown) return;
    shown = true;
    look();
    if (focus) title.focus();
  }

  function hide() {
    if (!shown) return;
    shown = false;
    looking?.abort();
    looking = null;
    if (element.contains(document.activeElement)) opener()?.focus();
  }

  return { element, show, hide };
}

// card is a client with its files. Its method update takes a newer state; look
// looks anew and shows it.
function card(id, look) {
  let now = null;
  let drawn = '';
  let working = false;
  const name = h('h3', { id: `client-${id}`, tabindex: -1, dir: 'auto' });
  const state = h('p', { class: 'muted' });
  const runs = h('span', { class: 'tag' });
  const owner = () => h('span', { class: 'unseen', dir: 'auto' });
  const button = (text, wish) => h('button', { type: 'button', class: 'small', onclick: () => run(wish) }, h('span', null, text), owner());
  const buttons = {
    share: button('', {}),
    quiet: button('Keep its page closed…', { quiet: true }),
    undo: button('Take it out again…', { undo: true }),
  };
  const files = h('div', { class: 'setup-files' });
  const element = h('section', { class: 'card setup-client', 'aria-labelledby': name.id },
    h('div', { class: 'setup-client-head' }, name, state, runs, h('span', { class: 'grow' }), h('div', { class: 'setup-buttons' }, Object.values(buttons))),
    files);

  async function run(wish) {
    if (working) return;
    working = true;
    disable();
    try {
      if (await change(now, wish)) await look();
    } finally {
      working = false;
      disable();
    }
  }

  function disable() {
    for (const one of Object.values(buttons)) setAttribute(one, 'aria-disabled', String(working));
  }

  element.update = (client) => {
    now = client;
    const wanted = JSON.stringify(client);
    if (wanted === drawn) return;
    drawn = wanted;
    setText(name, client.name);
    setText(state, standing(client));
    setText(runs, running(client));
    setAttribute(runs, 'title', client.running.length > 0 ? `pid ${client.running.join(', ')}` : null);
    runs.hidden = client.running.length === 0;
    const offered = offers(client);
    setText(buttons.share.firstElementChild, staysAlone(client) ? 'Run its Serena through Lamplighter…' : 'Share its Serena…');
    const focused = document.activeElement;
    for (const [kind, one] of Object.entries(buttons)) {
      one.hidden = !offered[kind];
      setText(one.lastElementChild, ` ${client.name}`);
    }
    // Who has just changed it goes on with how to take that back.
    if (focused?.hidden && Object.values(buttons).includes(focused)) (Object.values(buttons).find((one) => !one.hidden) ?? name).focus();
    replace(files, shownFiles(client).map(fileOf));
  };
  return element;
}

function fileOf(file) {
  return h('div', { class: 'setup-file' },
    h('p', { class: 'setup-file-head' }, h('span', { class: 'mono setup-path', dir: 'ltr' }, file.path),
      file.scope === 'project' && h('span', { class: 'tag' }, 'project'),
      file.changed && h('span', { class: 'muted' }, 'changed by Lamplighter ', time(file.changed))),
    file.problem && h('p', { class: 'setup-problem', dir: 'auto' }, file.problem),
    !file.problem && file.entries.length === 0 && h('p', { class: 'muted' }, 'It has no MCP servers.'),
    file.entries.length > 0 && h('ul', { class: 'setup-entries' }, file.entries.map(entryOf)),
    file.backup && h('p', { class: 'muted setup-backup' }, 'As it was before: ', h('span', { class: 'mono setup-path', dir: 'ltr' }, file.backup)));
}

function entryOf(entry) {
  return h('li', { class: 'setup-entry', dataset: { kind: markOf(entry) } },
    entryMark(markOf(entry)),
    h('span', { class: 'setup-word' }, wordOf(entry)),
    h('span', { class: 'setup-name' }, h('strong', { dir: 'auto' }, nameOf(entry)), entry.off && [' ', h('span', { class: 'tag', title: 'The client is told not to use it' }, 'off')]),
    h('div', { class: 'setup-what' },
      entry.runs && commandLine(entry.runs),
      notes(entry).map((text) => h('p', { dir: 'auto' }, text))));
}
