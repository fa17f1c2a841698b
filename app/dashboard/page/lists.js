// The lists of the configuration, folded: projects, tools, modes, contexts.

import { h, replace } from './dom.js';
import { count } from './format.js';
import { folded } from './section.js';

// Each list: what it is called, what it holds (null: this version does not
// say), and what to say when it is empty.
const lists = [
  { name: 'projects', title: 'Registered Projects', items: (all) => all.projects, empty: 'No project is registered.', draw: projects },
  { name: 'active-tools', title: 'Active Tools', items: (all) => all.activeTools?.map((name) => ({ name })) ?? null, empty: 'No tool is active.', draw: names },
  { name: 'functions', title: 'Active Functions', items: functionsOf, empty: 'No function is active.', draw: facades, only: (all) => all.facades !== null, counted: (items) => items.reduce((sum, one) => sum + one.methods.filter((method) => method.enabled).length, 0) },
  { name: 'tools', title: 'Available Tools', items: (all) => all.tools, empty: 'All tools are active.', draw: names, hint: 'They exist, and are not active here.' },
  { name: 'modes', title: 'Available Modes', items: (all) => all.availableModes, empty: 'There are no modes.', draw: names },
  { name: 'contexts', title: 'Available Contexts', items: (all) => all.contexts, empty: 'There are no contexts.', draw: names },
];

// configurationLists makes all of them.
export function configurationLists() {
  const folds = lists.map((list) => ({ list, frame: folded(list.title, { name: list.name }), shown: '' }));

  function update(record, found) {
    for (const fold of folds) fill(fold, record, found);
  }

  return { elements: folds.map((fold) => fold.frame.element), update };
}

function fill(fold, record, found) {
  const { list, frame } = fold;
  frame.element.hidden = Boolean(list.only) && !(record.value && list.only(record.value));
  if (!frame.condition(record, found)) {
    frame.count('');
    fold.shown = '';
    if (!record.trouble && !found.ended) frame.body.replaceChildren();
    return;
  }
  const items = list.items(record.value);
  const key = JSON.stringify(items);
  if (key === fold.shown) return;
  fold.shown = key;
  frame.count(items ? count(list.counted?.(items) ?? items.length) : '');
  if (!items) replace(frame.body, note(`Not offered by ${found.version}.`));
  else if (items.length === 0) replace(frame.body, note(list.empty));
  else replace(frame.body, list.hint ? h('p', { class: 'fold-hint muted' }, list.hint) : null, list.draw(items));
}

const note = (text) => h('p', { class: 'section-empty muted' }, text);

const active = () => h('span', { class: 'tag tag-active' }, 'active');

function projects(items) {
  return h('ul', { class: 'projects' }, items.map((one) => h('li', null,
    h('span', { class: 'project-line' }, h('strong', { dir: 'auto' }, one.name), one.active ? active() : null),
    one.path ? h('span', { class: 'muted path', dir: 'auto' }, one.path) : null)));
}

function names(items) {
  return h('ul', { class: 'names' }, items.map((one) => h('li', { class: one.active ? 'active' : null, title: one.path, dir: 'auto' }, one.name, one.active ? [' ', active()] : null)));
}

function functionsOf({ facades: all }) {
  return all?.filter((one) => one.methods.length > 0) ?? null;
}

function facades(items) {
  return h('dl', { class: 'facades' }, items.map((one) => [
    h('dt', { dir: 'auto' }, `s.${one.name}`, one.enabled ? null : h('span', { class: 'muted' }, ' disabled')),
    h('dd', null, h('ul', { class: 'names' }, one.methods.map((method) => h('li', { class: method.enabled ? null : 'muted', dir: 'auto', title: method.enabled ? null : 'Disabled' }, method.name, method.enabled ? null : h('span', { class: 'unseen' }, ' disabled'))))),
  ]));
}
