// Memories: the list, folded in the overview, and the view to read and edit.

import { prompt } from './dialog.js';
import { h, keyed, replace, setAttribute, setText } from './dom.js';
import { changed, drafts, nameTrouble, ordered } from './drafts.js';
import { count } from './format.js';
import { follower } from './follower.js';
import { empty, kept } from './kept.js';
import { memoryEditor } from './memoryeditor.js';
import { router } from './router.js';
import { folded, section, skeleton, versionOf } from './section.js';

const chosen = new Map(); // id → name of the memory that is open

// memoriesFold lists the names; each opens the view.
export function memoriesFold() {
  const frame = folded('Memories', { name: 'memories' });
  let shown = '';

  function update(record, found) {
    if (!frame.condition(record, found)) {
      frame.count('');
      shown = '';
      if (!record.trouble && !found.ended) frame.body.replaceChildren();
      return;
    }
    const names = record.value.memories;
    const word = router.word(found.instance);
    const key = JSON.stringify([word, names]);
    if (key === shown) return;
    shown = key;
    frame.count(names ? count(names.length) : '');
    if (!names?.length) replace(frame.body, h('p', { class: 'section-empty muted' }, names ? 'No memories.' : none(record.value)));
    else {
      replace(frame.body, h('ul', { class: 'names names-links' }, ordered(names).map((name) => h('li', null, h('a', {
        href: router.link(found.instance, 'memories'),
        dir: 'auto',
        onclick: (event) => {
          event.preventDefault();
          chosen.set(found.instance.id, name);
          router.go(word, 'memories');
        },
      }, name)))));
    }
  }

  return { element: frame.element, update };
}

function none(overview) {
  return overview.project.name ? 'Its memory tools are switched off, so Serena does not list them.' : 'No project is active, and memories belong to a project.';
}

// memoriesView reads and edits them.
export function memoriesView() {
  const create = h('button', { type: 'button', class: 'small', onclick: createOne }, 'New…');
  const frame = section('Memories', { kind: 'memories', tools: [create] });
  const list = h('ul', { class: 'memory-list', 'aria-label': 'Memories' });
  const words = h('p', { class: 'section-empty muted' });
  const editor = memoryEditor({ report: follow, redraw: () => following.redraw() });
  const panes = h('div', { class: 'memory-panes' }, h('div', { class: 'memory-names' }, list, words), editor.element);
  frame.body.append(skeleton(3));
  const following = follower({ kinds: () => ['overview'], draw });

  function hide() {
    editor.leave();
    following.hide();
  }

  function draw(found) {
    const now = kept(found.instance.id).overview ?? empty;
    const state = { ...found, version: versionOf(found.instance, now.value) };
    create.disabled = found.ended || !now.value?.project.name;
    if (!frame.condition(now, state)) {
      if (!now.trouble && !found.ended) frame.body.replaceChildren(skeleton(3));
      return;
    }
    if (!panes.isConnected) frame.body.replaceChildren(panes);
    const { id } = found.instance;
    const names = now.value.memories ?? [];
    const open = chosen.get(id) ?? '';
    setText(words, names.length > 0 ? '' : now.value.memories ? 'No memories.' : none(now.value));
    words.hidden = words.textContent === '';
    // One that is being made, or that vanished while it was edited, stays.
    const all = open && !names.includes(open) && drafts.get(id, open) ? [...names, open] : names;
    keyed(list, ordered(all), (name) => name, make, (node, name) => {
      const button = node.firstElementChild;
      setAttribute(button, 'aria-current', name === open ? 'true' : null);
      button.lastElementChild.hidden = !changed(drafts.get(id, name));
    });
    panes.classList.toggle('one', Boolean(open));
    editor.show(found, open, names);
  }

  function make(name) {
    return h('li', null, h('button', { type: 'button', class: 'quiet memory-name', dir: 'auto', onclick: () => choose(name) },
      h('span', { class: 'cut' }, name), h('span', { class: 'tag tag-warn' }, 'unsaved')));
  }

  function choose(name) {
    chosen.set(following.found.instance.id, name);
    following.redraw();
  }

  // follow shows what an order made of the memory that is open: another name,
  // or '' for none.
  function follow({ id, name }) {
    if (name) chosen.set(id, name);
    else chosen.delete(id);
    if (following.found?.instance.id === id) following.want('overview');
    following.redraw();
  }

  async function createOne() {
    const { id } = following.found.instance;
    const check = (text) => nameTrouble(text, kept(id).overview?.value?.memories ?? []);
    const answer = await prompt({ title: 'New memory', label: 'Name, such as topic/name; global/… is shared by all projects', action: 'Create', check });
    if (answer === null) return;
    drafts.set(id, answer.trim(), { base: null, text: '' });
    follow({ id, name: answer.trim() });
    if (following.found?.instance.id === id) editor.focus();
  }

  return { element: frame.element, show: following.show, update: following.update, hide };
}

// A page that is closed would lose what is not saved.
if (globalThis.addEventListener) {
  addEventListener('beforeunload', (event) => {
    if (drafts.unsaved()) event.preventDefault();
  });
}
