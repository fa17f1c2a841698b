// One memory: read, edited in place, renamed, deleted.

import { readMemory, refused } from './answers.js';
import { confirm, prompt } from './dialog.js';
import { h, setText } from './dom.js';
import { changed, conflict, drafts, nameTrouble } from './drafts.js';
import { instance as requests } from './http.js';
import { kept } from './kept.js';
import { say } from './notice.js';
import { budget } from './poll.js';

// memoryEditor shows the memory that show was called with. report is called
// with {id, name} after an order, name being '' for none; redraw when a draft
// has changed.
export function memoryEditor({ report, redraw }) {
  const back = h('button', { type: 'button', class: 'small quiet memory-back', onclick: () => close() }, '‹ All');
  const title = h('h3', { class: 'cut', dir: 'auto' });
  const edit = h('button', { type: 'button', class: 'small', onclick: begin }, 'Edit');
  const rename = h('button', { type: 'button', class: 'small quiet', onclick: renameIt }, 'Rename…');
  const erase = h('button', { type: 'button', class: 'small quiet danger apart', onclick: deleteIt }, 'Delete…');
  const save = h('button', { type: 'button', class: 'small primary', onclick: saveIt }, 'Save');
  const cancel = h('button', { type: 'button', class: 'small', onclick: giveUp }, 'Cancel');
  const reading = h('pre', { class: 'memory-text', dir: 'auto', tabindex: 0 });
  const writing = h('textarea', { class: 'memory-text', dir: 'auto', spellcheck: 'false', 'aria-label': 'Content' });
  const state = h('p', { class: 'memory-state muted', role: 'status' });
  const hint = h('p', { class: 'section-empty muted' }, 'Choose a memory to read it.');
  const box = h('div', { class: 'memory-box' }, h('div', { class: 'memory-head' }, back, title, edit, save, cancel, rename, erase), state, reading, writing);
  const element = h('div', { class: 'memory-pane' }, hint, box);
  let at = { id: '', name: '' };
  let found = null;
  let names = [];
  let content = null; // as read, null while unknown
  let busy = false;
  let ordered = false; // whether the change itself was sent
  let control = null;

  writing.addEventListener('input', () => {
    const draft = drafts.get(at.id, at.name);
    if (draft) drafts.set(at.id, at.name, { ...draft, text: writing.value });
    redraw();
  });
  writing.addEventListener('keydown', (event) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    saveIt();
  });

  function show(next, name, all) {
    found = next;
    names = all;
    if (at.id !== found.instance.id || at.name !== name) {
      leave();
      at = { id: found.instance.id, name };
      if (name) open();
    }
    draw();
  }

  function leave() {
    control?.abort();
    control = null;
    content = null;
    at = { id: '', name: '' };
    setText(state, '');
  }

  async function open() {
    const draft = drafts.get(at.id, at.name);
    if (draft) {
      content = draft.base;
      writing.value = draft.text;
      return;
    }
    const was = (kept(at.id).memories ??= new Map()).get(at.name);
    content = was?.content ?? null;
    if (found.ended) {
      setText(state, was ? '' : 'It was not read before the server ended.');
      return;
    }
    if (!was) setText(state, 'Reading…');
    const here = at;
    control = new AbortController();
    try {
      const text = await read(here, control.signal);
      if (at !== here) return;
      content = text;
      setText(state, '');
    } catch (error) {
      if (at !== here || error.name === 'AbortError') return;
      setText(state, was ? `As it was read before. ${error.message}` : `It was not read. ${error.message}`);
    }
    draw();
  }

  async function read({ id, name }, signal) {
    const text = readMemory(await budget(id).run(() => requests(id).post('get_memory', { memory_name: name }, { signal }), { signal, urgent: true }));
    (kept(id).memories ??= new Map()).set(name, { content: text });
    return text;
  }

  function draw() {
    const draft = at.name ? drafts.get(at.id, at.name) : null;
    const ended = Boolean(found?.ended);
    hint.hidden = Boolean(at.name) || names.length === 0; // the list says that there is none
    box.hidden = !at.name;
    setText(title, at.name);
    title.title = at.name;
    for (const node of [edit, rename]) node.hidden = Boolean(draft);
    erase.hidden = draft?.base === null && Boolean(draft);
    for (const node of [save, cancel]) node.hidden = !draft;
    edit.disabled = ended || content === null || busy;
    rename.disabled = erase.disabled = ended || busy;
    save.disabled = ended || busy || !draft || (draft.base !== null && !changed(draft));
    cancel.disabled = busy;
    reading.hidden = Boolean(draft) || content === null;
    writing.hidden = !draft;
    writing.readOnly = ended || busy;
    if (!draft) setText(reading, content ?? '');
    else if (writing.value !== draft.text) writing.value = draft.text;
  }

  function begin() {
    drafts.set(at.id, at.name, { base: content, text: content });
    setText(state, '');
    redraw();
    writing.focus();
    writing.setSelectionRange(0, 0);
  }

  async function giveUp() {
    const here = at;
    const draft = drafts.get(here.id, here.name);
    if (changed(draft) && !(await confirm({ title: `Discard the changes to ${here.name}?`, body: 'What you wrote is lost.', action: 'Discard', cancel: 'Keep editing', danger: true }))) return;
    drafts.delete(here.id, here.name);
    if (draft?.base === null) report({ id: here.id, name: '' });
    else redraw();
  }

  // saveIt reads the memory once more first: assistants write memories too.
  async function saveIt() {
    const here = at;
    const draft = drafts.get(here.id, here.name);
    if (!draft || busy || save.disabled) return;
    await work(here, 'It was not saved.', 'It may still be saved: Serena does so when it is free.', async () => {
      const now = await current(here, draft);
      if (conflict(draft, now) && !(await overwrite(here.name, now))) return;
      refused(await send(here.id, 'save_memory', { memory_name: here.name, content: draft.text }));
      (kept(here.id).memories ??= new Map()).set(here.name, { content: draft.text });
      // What was typed meanwhile is not saved, and stays a draft.
      const later = drafts.get(here.id, here.name);
      if (later && later.text !== draft.text) drafts.set(here.id, here.name, { base: draft.text, text: later.text });
      else drafts.delete(here.id, here.name);
      if (at === here) content = draft.text;
      say(`Saved ${here.name}.`, { kind: 'good' });
      report(here);
    });
  }

  // current is the memory as it is now, null when there is none. Versions up
  // to 1.5 answer with a sentence instead of an error for one that is not
  // there, so a new one is only looked for in the list.
  async function current(here, draft) {
    if (draft.base === null && !names.includes(here.name)) return null;
    return read(here);
  }

  function overwrite(name, now) {
    return confirm({
      title: `${name} was changed meanwhile`,
      body: h('div', null, h('p', null, 'Somebody else has written it since you began. It now reads:'),
        h('pre', { class: 'memory-now', dir: 'auto', tabindex: 0 }, now === '' ? '(nothing)' : now),
        h('p', null, 'Saving replaces that with what you wrote.')),
      action: 'Replace it',
      cancel: 'Keep editing',
      danger: true,
    });
  }

  async function renameIt() {
    const here = at;
    const check = (text) => (text.trim() === here.name ? '' : nameTrouble(text, names));
    const answer = await prompt({ title: `Rename ${here.name}`, label: 'New name', value: here.name, action: 'Rename', check });
    if (answer === null || answer.trim() === here.name) return;
    const name = answer.trim();
    await work(here, 'It was not renamed.', 'It may still be renamed: Serena does so when it is free.', async () => {
      refused(await send(here.id, 'rename_memory', { old_name: here.name, new_name: name }));
      drafts.move(here.id, here.name, name);
      say(`Renamed ${here.name} to ${name}.`, { kind: 'good' });
      report({ id: here.id, name });
    });
  }

  async function deleteIt() {
    const here = at;
    const agreed = await confirm({ title: `Delete the memory ${here.name}?`, body: 'Its file is deleted. Serena keeps no copy.', action: 'Delete', danger: true });
    if (!agreed) return;
    await work(here, 'It was not deleted.', 'It may still be deleted: Serena does so when it is free.', async () => {
      refused(await send(here.id, 'delete_memory', { memory_name: here.name }));
      drafts.delete(here.id, here.name);
      kept(here.id).memories?.delete(here.name);
      say(`Deleted ${here.name}.`, { kind: 'good' });
      report({ id: here.id, name: '' });
    });
  }

  function send(id, route, body) {
    ordered = true;
    return budget(id).run(() => requests(id).post(route, body), { urgent: true });
  }

  // work carries out one order at a time and says what went wrong. A server at
  // work does it later, although nobody waits for it any more; lamplighter tells
  // that by 504, and answers otherwise when nothing was sent.
  async function work(here, failed, late, carryOut) {
    busy = true;
    ordered = false;
    draw();
    try {
      await carryOut();
    } catch (error) {
      const maybe = ordered && error.status === 504;
      say(`${here.name}: ${maybe ? late : failed} ${error.message}`, { kind: 'bad' });
      if (maybe) report(here);
    } finally {
      busy = false;
      redraw();
    }
  }

  function close() {
    report({ id: at.id, name: '' });
  }

  // focus goes to the text that is written.
  function focus() {
    writing.focus();
  }

  return { element, show, leave, focus };
}
