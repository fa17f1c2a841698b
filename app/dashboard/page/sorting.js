// The head of the table: what it is sorted by, which is kept.

import { h, setAttribute } from './dom.js';
import { columns, turned } from './rows.js';

const kept = 'lamplighter-sort';

// tableHead calls changed after the sort has changed, and chooseAll(on) for the
// box above all. Its menu is the same choice for where there is no head.
export function tableHead(changed, chooseAll) {
  let sort = read();
  const box = h('input', { type: 'checkbox', 'aria-label': 'Select all servers listed', onchange: () => chooseAll(box.checked) });
  const heads = columns.map((column) => {
    const arrow = h('span', { class: 'arrow', 'aria-hidden': 'true' });
    const button = h('button', { type: 'button', class: 'sort', title: column.hint, onclick: () => set(turned(sort, column.key)) }, h('span', { class: 'cut' }, column.title), arrow);
    return { column, cell: h('th', { scope: 'col', role: 'columnheader', class: `head-${column.key}${column.number ? ' number' : ''}` }, button), arrow };
  });
  const menu = h('select', { class: 'sort-menu', 'aria-label': 'Sort by', onchange: () => set(menu.value ? turned(null, menu.value) : null) },
    h('option', { value: '' }, 'Attention first, then name'), columns.map((one) => h('option', { value: one.key }, `By ${one.title.toLowerCase().replace('cpu', 'CPU')}`)));
  const element = h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' },
    h('th', { scope: 'col', role: 'columnheader', class: 'choose' }, box),
    heads.map((one) => one.cell),
    h('th', { scope: 'col', role: 'columnheader', class: 'actions-head' }, h('span', { class: 'unseen' }, 'Actions'))));

  function set(wanted) {
    sort = wanted;
    write(sort);
    show();
    changed();
  }

  function show() {
    for (const { column, cell, arrow } of heads) {
      const on = sort?.key === column.key;
      setAttribute(cell, 'aria-sort', on ? (sort.descending ? 'descending' : 'ascending') : null);
      arrow.textContent = on ? (sort.descending ? '↓' : '↑') : '';
    }
    menu.value = sort?.key ?? '';
  }

  show();
  return {
    element,
    menu,
    get sort() { return sort; },
    draw(all) {
      setAttribute(box, 'checked', all === 'all');
      setAttribute(box, 'indeterminate', all === 'some');
    },
  };
}

function read() {
  try {
    const { key, descending } = JSON.parse(localStorage.getItem(kept)) ?? {};
    return columns.some((one) => one.key === key) ? { key, descending: Boolean(descending) } : null;
  } catch {
    return null; // nothing kept that can be read
  }
}

function write(sort) {
  try {
    localStorage.setItem(kept, JSON.stringify(sort));
  } catch {
    // Without storage it lasts as long as the page.
  }
}
