// @ts-check
// Memories: the list, folded in the details, and the view to read and edit them.

import { html, signal, useEffect, useRef, useState } from './preact.js';
import { readMemory, refused, useAnswer, versionOf } from './details.js';
import { changed, conflict, draftOf, homeOf, nameTrouble, ordered as inOrder, setDraft, unsaved } from './drafts.js';
import { count } from './format.js';
import { queued } from './http.js';
import { ordered, queryOf, useQuery } from './query.js';
import { go, link, wordOf } from './router.js';
import { find } from './store.js';
import { Fold, Section, confirm, prompt, say } from './ui.js';

const chosen = signal(/** @type {Record<string, string>} */ ({})); // name of the memory that is open, by its home

const choose = (home, name) => { chosen.value = { ...chosen.value, [home]: name }; };

const none = (overview) => (overview.memories ? 'No memories.' : overview.project.name ? 'Its memory tools are switched off, so Serena does not list them.' : 'No project is active, and memories belong to a project.');

// MemoriesFold lists the names; each opens the view.
export function MemoriesFold({ answer, found, version }) {
  const { instance } = found;
  const open = (event, name) => {
    event.preventDefault();
    choose(homeOf(instance), name);
    go(wordOf(instance), 'memories');
  };
  return html`<${Fold} title="Memories" name="memories" count=${answer.value?.memories ? count(answer.value.memories.length) : ''} ...${{ answer, found, version }}>${(all) => (!all.memories?.length ? html`<p class="section-empty muted">${none(all)}</p>`
    : html`<ul class="names names-links">${inOrder(all.memories).map((name) => html`<li key=${name}><a href=${link(instance, 'memories')} dir="auto" onClick=${(event) => open(event, name)}>${name}</a></li>`)}</ul>`)}<//>`;
}

// Memories reads and edits them.
export function Memories({ found }) {
  const home = homeOf(found.instance);
  const answer = useAnswer('overview', found, home);
  const create = async () => {
    const name = await prompt({ title: 'New memory', label: 'Name, such as topic/name; global/… is shared by all projects', action: 'Create', check: (text) => nameTrouble(text, answer.value?.memories ?? []) });
    if (name === null) return;
    setDraft(home, name.trim(), { base: null, text: '' });
    choose(home, name.trim());
  };
  const tools = html`<button type="button" class="small" disabled=${found.ended || !answer.value?.project.name} onClick=${create}>New…</button>`;
  return html`<${Section} title="Memories" kind="memories" lines=${3} tools=${tools} answer=${answer} found=${found} version=${versionOf(found.instance, answer.value)}>${(all) => html`<${Panes} all=${all} found=${found} />`}<//>`;
}

function Panes({ all, found }) {
  const home = homeOf(found.instance);
  const open = chosen.value[home] ?? '';
  const names = all.memories ?? [];
  // One that is being made, or that vanished while it was edited, stays.
  const listed = open && !names.includes(open) && draftOf(home, open) ? [...names, open] : names;
  return html`<div class=${`memory-panes ${open ? 'one' : ''}`}>
    <div class="memory-names"><ul aria-label="Memories">${inOrder(listed).map((name) => html`<li key=${name}><button type="button" class="quiet memory-name" dir="auto" aria-current=${name === open ? 'true' : undefined} onClick=${() => choose(home, name)}>
      <span class="cut">${name}</span>${changed(draftOf(home, name)) && html`<span class="tag tag-warn">unsaved</span>`}</button></li>`)}</ul>
      ${names.length === 0 && html`<p class="section-empty muted">${none(all)}</p>`}</div>
    <div class="memory-pane">${open ? html`<${Editor} key=${`${found.instance.id} ${home} ${open}`} found=${found} name=${open} names=${names} />` : names.length > 0 && html`<p class="section-empty muted">Choose a memory to read it.</p>`}</div></div>`;
}

const memoryKey = (id, home, name) => `memory ${id} ${home} ${name}`;
const ask = async (id, name, signal = undefined) => readMemory(await ordered(id, (one) => one.post('get_memory', { memory_name: name }, { signal, limit: queued })));

// Editor shows one memory: read, edited in place, renamed, deleted.
function Editor({ found: { instance, ended }, name, names }) {
  const { id } = instance;
  const home = homeOf(instance);
  const [busy, setBusy] = useState(false);
  const writing = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const sent = useRef(false); // whether the change itself was sent
  const edited = draftOf(home, name);
  const isNew = edited?.base === null;
  const { value: content, trouble } = useQuery(memoryKey(id, home, name), (signal) => ask(id, name, signal), { on: !ended && !isNew });
  useEffect(() => { if (edited) writing.current?.focus(); }, [Boolean(edited)]);

  const show = (next) => {
    choose(home, next);
    queryOf(`overview ${id}`).refresh();
  };
  const send = (route, body) => {
    if (homeOf(find(id)?.instance ?? instance) !== home) throw new Error('The server works on another project by now.');
    sent.current = true;
    return ordered(id, (one) => one.post(route, body, { limit: queued }));
  };
  // work carries out one order at a time and says what went wrong. A server at
  // work does it later, although nobody waits for it any more; lamplighter tells
  // that by 504, and answers otherwise when nothing was sent.
  const work = async (done, carryOut) => {
    if (busy) return;
    setBusy(true);
    sent.current = false;
    try {
      await carryOut();
    } catch (error) {
      const maybe = sent.current && error.status === 504;
      say(`${name}: ${maybe ? `It may still be ${done}: Serena does so when it is free.` : `It was not ${done}.`} ${error.message}`, { kind: 'bad' });
      if (maybe) queryOf(`overview ${id}`).refresh();
    }
    setBusy(false);
  };
  // save reads the memory once more first: assistants write memories too. Versions up
  // to 1.5 answer with a sentence instead of an error for one that is not there, so a
  // new one is only looked for in the list.
  const save = () => edited && !ended && (isNew || changed(edited)) && work('saved', async () => {
    const now = isNew && !names.includes(name) ? null : await ask(id, name);
    if (conflict(edited, now) && !await overwrite(name, now)) return;
    refused(await send('save_memory', { memory_name: name, content: edited.text }));
    const later = draftOf(home, name); // what was typed meanwhile is not saved, and stays a draft
    setDraft(home, name, later && later.text !== edited.text ? { base: edited.text, text: later.text } : null);
    queryOf(memoryKey(id, home, name)).answer.value = { value: edited.text, at: new Date(), trouble: null };
    say(`Saved ${name}.`, { kind: 'good' });
    show(name);
  });
  const rename = async () => {
    const answer = await prompt({ title: `Rename ${name}`, label: 'New name', value: name, action: 'Rename', check: (text) => (text.trim() === name ? '' : nameTrouble(text, names)) });
    const next = answer?.trim();
    if (!next || next === name) return;
    await work('renamed', async () => {
      refused(await send('rename_memory', { old_name: name, new_name: next }));
      say(`Renamed ${name} to ${next}.`, { kind: 'good' });
      show(next);
    });
  };
  const erase = async () => {
    if (!await confirm({ title: `Delete the memory ${name}?`, body: 'Its file is deleted. Serena keeps no copy.', action: 'Delete', danger: true })) return;
    await work('deleted', async () => {
      refused(await send('delete_memory', { memory_name: name }));
      setDraft(home, name, null);
      say(`Deleted ${name}.`, { kind: 'good' });
      show('');
    });
  };
  const giveUp = async () => {
    if (changed(edited) && !await confirm({ title: `Discard the changes to ${name}?`, body: 'What you wrote is lost.', action: 'Discard', cancel: 'Keep editing', danger: true })) return;
    setDraft(home, name, null);
    if (isNew) choose(home, '');
  };
  const pressed = (event) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    save();
  };
  const button = (words, run, disabled, kind = '') => html`<button type="button" class=${`small ${kind}`} disabled=${disabled || busy} onClick=${run}>${words}</button>`;
  const state = edited ? '' : content === undefined ? ended ? 'It was not read before the server ended.' : trouble ? `It was not read. ${trouble.text}` : 'Reading…' : trouble ? `As it was read before. ${trouble.text}` : '';
  return html`<div class="memory-box">
    <div class="line"><button type="button" class="small quiet memory-back" onClick=${() => choose(home, '')}>‹ All</button><h3 class="cut grow" dir="auto" title=${name}>${name}</h3>
      ${edited ? [button('Save', save, ended || !isNew && !changed(edited), 'primary'), button('Cancel', giveUp, false)]
        : [button('Edit', () => setDraft(home, name, { base: content, text: content }), ended || content === undefined), button('Rename…', rename, ended, 'quiet')]}
      ${!isNew && button('Delete…', erase, ended, 'quiet danger')}</div>
    <p class="muted" role="status">${state}</p>
    ${edited ? html`<textarea ref=${writing} class="memory-text" dir="auto" spellcheck=${false} aria-label="Content" readonly=${ended || busy} value=${edited.text} onKeyDown=${pressed} onInput=${(event) => setDraft(home, name, { ...draftOf(home, name), text: event.currentTarget.value })}></textarea>`
      : content !== undefined && html`<pre class="memory-text" dir="auto" tabindex="0">${content}</pre>`}</div>`;
}

function overwrite(name, now) {
  return confirm({
    title: `${name} was changed meanwhile`,
    body: html`<div><p>Somebody else has written it since you began. It now reads:</p><pre class="memory-now" dir="auto" tabindex="0">${now || '(nothing)'}</pre><p>Saving replaces that with what you wrote.</p></div>`,
    action: 'Replace it', cancel: 'Keep editing', danger: true,
  });
}

// A page that is closed would lose what is not saved.
globalThis.addEventListener?.('beforeunload', (event) => {
  if (unsaved().length > 0) event.preventDefault();
});
