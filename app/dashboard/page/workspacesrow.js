// One workspace in the list: a line, and below it, once it is opened, its facts,
// its versions and what can be done to it.

import { h, replace, setAttribute, setText, setTitle } from './dom.js';
import { absolute, count, sentence } from './format.js';
import { Failure, get } from './http.js';
import { icon } from './icons.js';
import { setMark } from './marks.js';
import { setTime, time } from './times.js';
import { kindOf, markOf, offers, progressWords, size, source, stateOf } from './workspaces.js';
import { archive, compare, copy, keep, remove, restore } from './workspacesorders.js';

// row makes the item of a workspace. Its method update takes a newer state.
// opened says which ids are open, and outlasts the row.
export function row(opened) {
  let now = null;
  let drawn = '';
  let details = null; // made when it is opened first
  const mark = h('span', { class: 'workspace-mark' });
  const state = h('span', { class: 'workspace-state' });
  const job = h('span', { class: 'cut', dir: 'auto' });
  const name = h('button', { type: 'button', class: 'workspace-job quiet', 'aria-expanded': 'false', onclick: () => open(!opened.has(now.id)) }, icon('down'), job);
  const project = h('span', { class: 'workspace-project cut', dir: 'auto' });
  const kind = h('span', { class: 'tag workspace-kind' });
  const bytes = h('span', { class: 'workspace-size number' });
  const age = time(null, { suffix: '' });
  const next = h('span', { dir: 'auto' });
  const at = time(null, { suffix: 'ahead' });
  const path = h('span', { class: 'mono cut', dir: 'ltr' });
  const copies = h('button', { type: 'button', class: 'quiet icon small', title: 'Copy the path', onclick: () => copy(now.path) }, icon('copy'));
  const problem = h('p', { class: 'workspace-problem', dir: 'auto' });
  const body = h('div', { class: 'workspace-body', hidden: true });
  const element = h('li', { class: 'workspace' },
    h('div', { class: 'workspace-line' }, mark, state, name, project, kind, bytes,
      h('span', { class: 'workspace-age number' }, h('span', { class: 'unseen' }, 'made '), age, h('span', { class: 'unseen' }, ' ago')),
      h('span', { class: 'workspace-next' }, next, ' ', at)),
    h('div', { class: 'workspace-where' }, path, copies), problem, body);

  function open(is) {
    if (is) opened.add(now.id);
    else opened.delete(now.id);
    settle();
  }

  function settle() {
    const is = opened.has(now.id);
    setAttribute(name, 'aria-expanded', String(is));
    body.hidden = !is;
    if (!is) return;
    if (!details) {
      details = detailsOf(now);
      body.append(details.element);
    }
    details.update(now);
  }

  element.update = (one) => {
    now = one;
    const wanted = JSON.stringify(one);
    if (wanted !== drawn) {
      drawn = wanted;
      setMark(mark, markOf(one));
      setText(state, stateOf(one));
      element.dataset.state = one.problem ? 'problem' : one.state;
      setText(job, one.job);
      setTitle(job, one.job);
      setText(project, one.project);
      setTitle(project, one.project);
      setText(kind, kindOf(one));
      setText(bytes, size(one.size_bytes));
      setTitle(bytes, one.measured_at ? `${count(one.files)} files, measured ${absolute(one.measured_at)}` : 'Not measured yet');
      setTime(age, one.created_at);
      setText(next, one.ends_at ? `${one.ends},` : one.ends);
      at.hidden = !one.ends_at;
      setTime(at, one.ends_at);
      setText(path, one.state === 'archived' ? one.archive?.path ?? one.path : one.path);
      setTitle(path, path.textContent);
      setAttribute(copies, 'aria-label', `Copy the path of ${one.job}`);
      setText(problem, one.problem ? sentence(one.problem) : '');
      problem.hidden = !one.problem;
    }
    settle();
  };
  return element;
}

// detailsOf are the facts of a workspace, its versions, and its buttons.
function detailsOf(first) {
  let now = first;
  let drawn = '';
  let asked = ''; // what the versions were asked for at
  let working = false;
  const facts = h('dl', { class: 'workspace-facts' });
  const versions = h('div', { class: 'workspace-versions' });
  const button = (text, run, kind = '') => h('button', { type: 'button', class: `small ${kind}`, onclick: () => order(run) }, text, h('span', { class: 'unseen', dir: 'auto' }, ` ${now.job}`));
  const buttons = {
    keep: button('Keep a version…', () => keep(now)),
    restore: button('Restore…', () => restore(now)),
    archive: button('Archive…', () => archive(now)),
    remove: button('Remove…', () => remove(now), 'danger apart'),
  };
  const element = h('div', { class: 'workspace-details' }, facts, versions, h('p', { class: 'workspace-buttons' }, Object.values(buttons)));

  async function order(run) {
    if (working) return;
    working = true;
    disable();
    try {
      if (await run()) asked = '';
    } finally {
      working = false;
      disable();
      load();
    }
  }

  function disable() {
    for (const one of element.querySelectorAll('button')) setAttribute(one, 'aria-disabled', String(working));
  }

  async function load() {
    const key = `${now.version_count} ${now.state} ${now.used_at}`;
    if (asked === key || !offers(now).versions || !element.isConnected) return;
    asked = key;
    try {
      const shown = await get(`/workspaces/${encodeURIComponent(now.id)}`);
      if (asked === key) drawVersions(shown?.versions ?? []);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (asked !== key) return;
      asked = '';
      replace(versions, h('p', { class: 'workspace-problem', dir: 'auto' }, sentence(error.message)));
    }
  }

  function drawVersions(list) {
    const small = (text, about, run) => h('button', { type: 'button', class: 'small', onclick: () => order(run) }, text, h('span', { class: 'unseen' }, ` ${about}`));
    const there = now.state === 'ready';
    replace(versions, h('h3', null, 'Versions'), list.length === 0
      ? h('p', { class: 'muted' }, 'None yet. Keep one, and it can be compared and restored.')
      : h('ul', null, list.toReversed().map((one, i) => {
        const before = list[list.length - 2 - i];
        return h('li', null,
          h('span', { class: 'workspace-version' }, `${one.version}`), h('span', { class: 'workspace-message', dir: 'auto' }, one.message),
          h('span', { class: 'muted' }, `${count(one.files)} files, ${size(one.size_bytes)}, `, time(one.at)),
          h('span', { class: 'workspace-buttons' },
            there && small('What changed since…', `version ${one.version}`, () => compare(now, one.version)),
            before && small(`Since ${before.version}…`, `to version ${one.version}`, () => compare(now, before.version, one.version)),
            now.state !== 'archived' && small('Put back…', `version ${one.version}`, () => restore(now, one))));
      })));
    disable();
  }

  function update(one) {
    now = one;
    const offered = offers(one);
    const wanted = JSON.stringify(one);
    if (wanted !== drawn) {
      drawn = wanted;
      const focused = document.activeElement;
      for (const kind of Object.keys(buttons)) buttons[kind].hidden = !offered[kind];
      if (focused?.hidden && element.contains(focused)) Object.values(buttons).find((node) => !node.hidden).focus();
      versions.hidden = !offered.versions;
      replace(facts, rows(one).map(([word, value]) => h('div', null, h('dt', null, word), h('dd', { dir: 'auto' }, value))));
    }
    load();
  }

  return { element, update };
}

function rows(one) {
  return [
    ['Directory', one.path], ['Archive', one.archive && `${one.archive.path}, ${size(one.archive.bytes)}`], ['Made from', source(one)],
    ['Branch', one.source?.branch], ['Shared, read-only', one.shares?.map((share) => share.from).join(', ')],
    ['Server', one.server?.mcp_url], ['Made', one.created_at && time(one.created_at)], ['Last used', one.used_at && time(one.used_at)],
    ['Job ended', one.completed_at && time(one.completed_at)], ['Id', one.id],
  ].filter(([, value]) => value);
}

// makingRow is one that is being made or worked on.
export function makingRow() {
  const name = h('span', { class: 'cut', dir: 'auto' });
  const words = h('span', { class: 'muted' });
  const bar = h('progress', { max: 100 });
  const element = h('li', { class: 'workspace-making' }, h('strong', null, name), bar, words);
  element.update = ({ job, name: directory, progress }) => {
    setText(name, job || directory);
    setTitle(name, directory);
    setText(words, progressWords(progress ?? {}));
    setAttribute(bar, 'aria-label', `Progress of ${job || directory}`);
    const percent = progress?.percent;
    if (typeof percent === 'number') bar.value = percent;
    else bar.removeAttribute('value');
  };
  return element;
}
