// Worktrees that somebody has left behind in a directory: found when one asks,
// and removed one by one.

import { h, keyed, setAttribute, setText } from './dom.js';
import { sentence } from './format.js';
import { Failure, send } from './http.js';
import { announce } from './notice.js';
import { time } from './times.js';
import { found, traits } from './workspaces.js';
import { removeWorktree } from './workspacesorders.js';

const long = 600_000; // ms: large directories take their time

// scanPanel returns {element, hide()}.
export function scanPanel() {
  let looking = null; // AbortController of a scan
  let looked = ''; // the directory of what is shown
  let list = [];
  const field = h('input', { id: 'scan-directory', type: 'text', autocomplete: 'off', spellcheck: 'false', dir: 'ltr', placeholder: '/home/me/src' });
  const go = h('button', { type: 'submit', class: 'small' }, 'Scan');
  const form = h('form', { class: 'scan-form' }, h('label', { for: 'scan-directory' }, 'Directory'), field, go);
  const failed = h('p', { class: 'workspace-problem', role: 'alert', dir: 'auto', hidden: true });
  const words = h('p', { role: 'status' });
  const problems = h('ul', { class: 'scan-problems muted' });
  const items = h('ul', { class: 'scan-list', 'aria-label': 'Worktrees' });
  const element = h('details', { class: 'card fold scan' }, h('summary', null, h('h2', null, 'Stale worktrees')),
    h('div', { class: 'scan-body' },
      h('p', { class: 'muted' }, 'Assistants leave git worktrees behind. Name a directory, and all of its repositories and those below it are looked at. Nothing is changed by that.'),
      form, failed, words, problems, items));

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (looking) looking.abort();
    else scan(field.value.trim());
  });

  async function scan(dir) {
    if (dir === '') {
      fail('Type the path of a directory, such as /home/me/src.');
      field.focus();
      return;
    }
    fail('');
    const mine = looking = new AbortController();
    draw(`Looking at ${dir}…`);
    try {
      const answer = await send('POST', '/workspaces/scan', { dirs: [dir] }, { limit: long, signal: mine.signal });
      looked = dir;
      list = answer?.worktrees ?? [];
      keyed(problems, answer?.problems ?? [], (text) => text, (text) => h('li', { dir: 'auto' }, text));
      looking = null;
      draw(found({ worktrees: list }));
    } catch (error) {
      looking = null;
      if (error.name === 'AbortError') draw('The scan was ended.');
      else if (error instanceof Failure) {
        fail(sentence(error.message));
        draw('');
      } else throw error;
    }
  }

  function fail(text) {
    setText(failed, text);
    failed.hidden = text === '';
    setAttribute(field, 'aria-invalid', text ? 'true' : null);
  }

  function draw(text) {
    setText(words, text);
    setText(go, looking ? 'Stop' : 'Scan');
    setAttribute(items, 'aria-busy', String(looking !== null));
    items.hidden = list.length === 0;
    keyed(items, list, (one) => one.path, item, (node, one) => node.update(one));
  }

  function item() {
    let now = null;
    let working = false;
    const path = h('p', { class: 'mono workspace-path', dir: 'ltr' });
    const facts = h('p', { class: 'muted', dir: 'auto' });
    const why = h('p', { dir: 'auto' });
    const owner = h('span', { class: 'unseen', dir: 'ltr' });
    const remove = h('button', { type: 'button', class: 'small danger', onclick: run }, 'Remove…', owner);
    const node = h('li', null, h('div', { class: 'scan-what' }, path, facts, why), remove);

    async function run() {
      if (working) return;
      working = true;
      setAttribute(remove, 'aria-disabled', 'true');
      try {
        if (!await removeWorktree(now)) return;
        const at = list.findIndex((one) => one.path === now.path);
        list = list.filter((one) => one.path !== now.path);
        draw(found({ worktrees: list }));
        announce(`${list.length} left in ${looked}`);
        (items.children[Math.min(at, list.length - 1)]?.querySelector('button') ?? go).focus();
      } finally {
        working = false;
        setAttribute(remove, 'aria-disabled', null);
      }
    }

    node.update = (one) => {
      now = one;
      node.dataset.removable = String(one.removable);
      setText(path, one.path);
      facts.replaceChildren(`${one.project}: ${traits(one).join(', ')}, last used `, time(one.used_at));
      setText(why, sentence(one.removable ? `can be removed: ${one.why}` : one.why));
      setText(owner, ` ${one.path}`);
    };
    return node;
  }

  return { element, hide: () => looking?.abort() };
}
