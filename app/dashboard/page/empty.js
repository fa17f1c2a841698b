// What the overview says while there is nothing: how to get something.

import { h } from './dom.js';
import { say } from './notice.js';

const example = 'serena start-mcp-server --transport streamable-http';

export function emptyState() {
  const copy = h('button', {
    type: 'button', class: 'small',
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(example);
        say('Copied.', { kind: 'good' });
      } catch {
        say('The browser did not allow to copy. Select the text instead.', { kind: 'bad' });
      }
    },
  }, 'Copy');
  return h('div', { class: 'empty', hidden: true },
    h('img', { src: 'assets/lantern.svg', alt: '', width: 56, height: 56 }),
    h('h2', null, 'No servers yet'),
    h('p', null, 'Start your assistant and its servers appear here by themselves, or start one in a terminal:'),
    h('div', { class: 'command' }, h('code', null, example), copy),
    h('p', { class: 'muted' }, 'Lamplighter knows Serena best, many other MCP servers by name, and yours by a rule in its settings.'));
}
