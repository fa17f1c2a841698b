// The list of all servers, with a filter: for when there are more tabs than
// room.

import { modal } from './dialog.js';
import { dismiss } from './dismiss.js';
import { h, replace, setText } from './dom.js';
import { plural, state as stateWords } from './format.js';
import { icon } from './icons.js';
import { label, setLabel } from './label.js';
import { mark } from './marks.js';
import { router } from './router.js';
import { matches, words } from './rows.js';

// showAll offers entries {instance, ended_at}; selected is the id of the one
// that is shown.
export function showAll(entries, selected) {
  return modal({ title: 'All servers', kind: 'dialog-all' }, (close) => {
    const field = h('input', { type: 'search', class: 'wide', placeholder: 'Filter', 'aria-label': 'Filter the list', autocomplete: 'off', spellcheck: 'false', dir: 'auto' });
    const list = h('ul', { class: 'all-list' });
    const told = h('p', { class: 'muted all-count', role: 'status' });
    let left = entries;
    const draw = () => {
      const wanted = words(field.value);
      const found = left.filter(({ instance }) => matches(instance, wanted));
      replace(list, found.map(row));
      all.hidden = !left.some((one) => one.ended_at);
      setText(told, found.length === 0 ? 'None matches.' : plural(found.length, 'server', 'servers'));
    };
    const away = async (gone) => {
      if (!(await dismiss(gone.map((one) => one.instance)))) return;
      left = left.filter((one) => !gone.includes(one));
      draw();
      field.focus();
    };
    const all = h('button', { type: 'button', class: 'quiet small', onclick: () => away(left.filter((one) => one.ended_at)) }, 'Dismiss all ended');
    const row = (entry) => {
      const { instance, ended_at: endedAt } = entry;
      const ended = Boolean(endedAt);
      const text = label({ class: 'cut' });
      setLabel(text, instance);
      const go = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        close(null);
      };
      const link = h('a', { href: router.link(instance), class: ended ? 'ended' : null, 'aria-current': instance.id === selected ? 'page' : null, title: instance.project_root, onclick: go },
        mark(instance.state, { ended }), text, h('span', { class: 'muted' }, ended ? 'ended' : stateWords(instance)));
      return h('li', null, link, ended ? h('button', { type: 'button', class: 'quiet icon small', 'aria-label': `Dismiss ${instance.label}`, title: 'Dismiss', onclick: () => away([entry]) }, icon('close')) : null);
    };
    field.addEventListener('input', draw);
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.isComposing) list.querySelector('a')?.click();
      if (event.key === 'Escape' && field.value) {
        event.preventDefault();
        field.value = '';
        draw();
      }
    });
    const content = h('div', { class: 'all-box' }, field, h('div', { class: 'all-line' }, told, all), list);
    content.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const links = [...list.querySelectorAll('a')];
      const at = links.indexOf(document.activeElement) + step;
      (links[at] ?? (at < 0 ? field : links.at(-1)))?.focus();
    });
    draw();
    return { content, focus: field };
  });
}
