// Current Configuration: what the server works on, and how.

import { clientWords } from './client.js';
import { h, replace } from './dom.js';
import { section } from './section.js';

// The rows of the table: a name, and what it holds. A wide one has its own line.
const wide = true;
const rows = [
  ['Project', project, wide],
  ['Context', (all) => described(all.context), wide],
  ['Modes', modes, wide],
  ['Client', client],
  ['Interface', agentInterface],
  ['Version', version],
  ['Languages', (all) => (all.jetbrains ? 'by JetBrains' : all.languages && (all.languages.join(', ') || 'none'))],
  ['Encoding', (all) => all.encoding],
  ['Backend', (all) => all.backend],
];

export function configurationSection() {
  const frame = section('Current Configuration', { kind: 'configuration' });
  const list = h('dl', { class: 'facts' });
  const cells = rows.map(([label, , isWide]) => {
    const cell = h('dd', { dir: 'auto' }, h('span', { class: 'skeleton-line' }));
    list.append(h('div', { class: isWide ? 'fact fact-wide' : 'fact' }, h('dt', null, label), cell));
    return cell;
  });
  frame.body.append(list);
  let shown = '';

  function update(record, found) {
    if (!frame.condition(record, found)) {
      if (!record.trouble && !found.ended) reset();
      return;
    }
    const key = JSON.stringify([record.value, found.instance.client, found.instance.managed]);
    if (key === shown && list.isConnected) return;
    shown = key;
    for (const [i, [, fill]] of rows.entries()) replace(cells[i], fill(record.value, found.instance) || h('span', { class: 'muted' }, 'unknown'));
    if (!list.isConnected) frame.body.replaceChildren(list);
  }

  function reset() {
    shown = '';
    for (const cell of cells) replace(cell, h('span', { class: 'skeleton-line' }));
    frame.body.replaceChildren(list);
  }

  return { element: frame.element, update };
}

function project({ project: { name, path, trusted } }) {
  if (!name) return 'none is active';
  const words = trusted === false ? h('span', { class: 'tag tag-warn', title: 'Some of its settings are ignored and symbolic links in it are not followed' }, 'untrusted') : trusted ? h('span', { class: 'tag' }, 'trusted') : null;
  return [h('strong', null, h('bdi', null, name)), ' ', words, ' ', path ? h('span', { class: 'muted' }, h('bdi', null, path)) : null];
}

function agentInterface({ agentInterface: name }) {
  if (name !== 'REPL') return name;
  return ['REPL', h('span', { class: 'tag', title: 'Variables of a session live in its memory: ending the server loses them' }, 'keeps variables')];
}

function described(one) {
  return one && [h('span', { title: one.path }, h('bdi', null, one.name)), one.description ? h('span', { class: 'muted' }, h('bdi', null, ` ${one.description}`)) : null];
}

function modes(all) {
  if (!all.modes) return null;
  if (all.modes.length === 0) return 'none';
  return h('ul', { class: 'modes' }, all.modes.map((one) => h('li', null, described(one))));
}

// client prefers what Serena was told by a call to the name of the process; that
// of a managed server is whom we have started it for.
function client(all, instance) {
  const words = clientWords(instance);
  if (!all.client) return words;
  return instance.managed ? [all.client, h('span', { class: 'muted' }, ` ${words}`)] : all.client;
}

function version(all) {
  return all.version && [all.version, all.newerVersion ? h('span', { class: 'tag tag-warn' }, `${all.newerVersion} is out`) : null];
}
