// Language Servers: those of the active project, to add and to remove.

import { readLanguages, refused } from './answers.js';
import { confirm } from './dialog.js';
import { h, keyed, replace, setText } from './dom.js';
import { count } from './format.js';
import { instance as requests } from './http.js';
import { say } from './notice.js';
import { budget } from './poll.js';
import { folded } from './section.js';

// languagesFold draws them; changed is called after an order.
export function languagesFold({ changed }) {
  const frame = folded('Language Servers', { name: 'languages' });
  const list = h('ul', { class: 'languages' });
  const words = h('p', { class: 'section-empty muted' });
  const choice = h('select', { 'aria-label': 'Language to add' });
  const add = h('button', { type: 'button', onclick: addOne }, 'Add');
  const more = h('button', { type: 'button', class: 'small', onclick: offer }, 'Add…');
  const adding = h('div', { class: 'language-adding', hidden: true }, choice, add, h('button', { type: 'button', class: 'quiet', onclick: close }, 'Cancel'));
  const hint = h('p', { class: 'fold-hint muted', role: 'status' });
  const content = h('div', null, list, words, more, adding, hint);
  let found = null;
  let working = ''; // id of the instance of which an answer is awaited

  function update(record, next) {
    if (found?.instance.id !== next.instance.id) {
      close();
      setText(hint, '');
    }
    found = next;
    if (!frame.condition(record, found)) {
      frame.count('');
      if (!record.trouble && !found.ended) frame.body.replaceChildren();
      return;
    }
    if (!content.isConnected) frame.body.replaceChildren(content);
    const { languages, jetbrains, project } = record.value;
    frame.count(languages ? count(languages.length) : '');
    setText(words, jetbrains ? 'JetBrains analyses the code; there are no language servers.' : !languages ? `Not offered by ${found.version}.` : languages.length === 0 ? 'No language servers.' : '');
    words.hidden = words.textContent === '';
    keyed(list, languages ?? [], (one) => one, make, (node) => { node.lastElementChild.disabled = Boolean(found.ended); });
    const possible = !jetbrains && Boolean(languages) && Boolean(project.name) && !found.ended;
    more.hidden = !possible || !adding.hidden;
    if (!possible) adding.hidden = true;
  }

  function make(language) {
    return h('li', null, h('span', { dir: 'auto' }, language),
      h('button', { type: 'button', class: 'small quiet danger', 'aria-label': `Remove ${language}`, onclick: () => removeOne(language) }, 'Remove…'));
  }

  function close() {
    adding.hidden = true;
    more.hidden = false;
  }

  async function offer() {
    const { id } = found.instance;
    setText(hint, 'Reading which there are…');
    try {
      const languages = readLanguages(await budget(id).run(() => requests(id).get('get_available_languages'), { urgent: true }));
      if (found.instance.id !== id) return;
      setText(hint, 'Serena may have to download a language server before it starts it. That can take minutes.');
      replace(choice, languages.map((one) => h('option', { value: one }, one)));
      adding.hidden = false;
      more.hidden = true;
      choice.focus();
    } catch (error) {
      if (found.instance.id === id) setText(hint, `It does not say which there are. ${error.message}`);
    }
  }

  async function addOne() {
    if (!choice.value) return;
    close();
    await order('add_language', choice.value, `Adding ${choice.value}. This may take minutes.`, { done: 'Added', failed: 'added', to: 'to' });
  }

  async function removeOne(language) {
    const { instance } = found;
    const agreed = await confirm({
      title: `Remove ${language} from ${instance.label}?`,
      body: 'Its language server is stopped, and the project’s configuration no longer names it. Tools that read symbols stop working for its files.',
      action: 'Remove',
      danger: true,
    });
    if (agreed) await order('remove_language', language, `Removing ${language}.`, { done: 'Removed', failed: 'removed', to: 'from' });
  }

  async function order(route, language, progress, { done, failed, to }) {
    const { id, label } = found.instance;
    if (working === id) {
      say('The last change of the language servers is still being made.', { kind: 'plain' });
      return;
    }
    working = id;
    const tell = (text) => { if (found.instance.id === id) setText(hint, text); };
    tell(progress);
    try {
      refused(await budget(id).run(() => requests(id).post(route, { language }), { urgent: true }));
      tell('');
      say(`${done} ${language} ${to} ${label}.`, { kind: 'good' });
    } catch (error) {
      const late = error.status === 504; // it was sent, and may still happen
      tell(late ? 'No answer yet. Serena may still be at it; the list shows what it says.' : '');
      if (!late) say(`${language} was not ${failed} ${to} ${label}. ${error.message}`, { kind: 'bad' });
    } finally {
      working = '';
    }
    changed();
  }

  return { element: frame.element, update };
}
