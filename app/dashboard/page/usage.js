// Tool Usage: calls and tokens per tool, as bars and as numbers.

import { grown, sortStats, sumStats } from './answers.js';
import { confirm } from './dialog.js';
import { h, keyed, setAttribute, setText } from './dom.js';
import { count, plural } from './format.js';
import { instance as requests } from './http.js';
import { say } from './notice.js';
import { budget } from './poll.js';
import { section, skeleton } from './section.js';

const columns = [
  { by: 'tool', title: 'Tool' },
  { by: 'calls', title: 'Calls' },
  { by: 'input', title: 'Input tokens' },
  { by: 'output', title: 'Output tokens' },
];

// usageSection draws it; changed is called after a reset.
export function usageSection({ changed }) {
  const reset = h('button', { type: 'button', class: 'small quiet', onclick: clear }, 'Reset…');
  const hint = h('p', { class: 'usage-hint muted' });
  const frame = section('Tool Usage', { kind: 'usage', tools: [hint, reset] });
  const order = { by: 'calls', down: true };
  let shown = { id: '', rows: null, found: null };

  const heads = columns.map(({ by, title }) => h('th', { scope: 'col', class: by === 'tool' ? null : 'number' },
    h('button', { type: 'button', class: 'usage-sort', onclick: () => sort(by) }, title)));
  const body = h('tbody');
  const sums = columns.slice(1).map(() => h('td', { class: 'number' }));
  const table = h('table', { class: 'usage-table' },
    h('thead', null, h('tr', null, heads)), body,
    h('tfoot', null, h('tr', null, h('th', { scope: 'row' }, 'All'), sums)));
  const empty = h('p', { class: 'section-empty muted' }, 'No call has succeeded yet.');
  const box = h('div', { class: 'usage-box', tabindex: 0, role: 'group', 'aria-label': 'Tool usage' });
  box.append(skeleton(6));
  frame.body.append(box);

  function sort(by) {
    Object.assign(order, { down: order.by === by ? !order.down : by !== 'tool', by });
    draw();
  }

  function update(record, found, estimator) {
    const before = shown.id === found.instance.id ? shown.rows : null;
    const first = shown.id !== found.instance.id;
    shown = { id: found.instance.id, rows: before, found };
    reset.disabled = found.ended || !record.value?.length;
    if (!frame.condition(record, found)) {
      shown.rows = null;
      if (!record.trouble && !found.ended) {
        box.replaceChildren(skeleton(6));
        frame.body.replaceChildren(box);
      }
      setText(hint, '');
      return;
    }
    if (!box.isConnected) frame.body.replaceChildren(box);
    setText(hint, `${estimator ? `Tokens are estimated (\u2068${estimator}\u2069). ` : ''}Serena does not count failed calls.`);
    if (record.value === shown.rows && !first) return;
    shown.rows = record.value;
    draw(before ? grown(before, record.value) : []);
  }

  function draw(news = []) {
    const { rows } = shown;
    if (!rows) return;
    if (rows.length === 0) {
      box.replaceChildren(empty);
      return;
    }
    if (!table.isConnected) box.replaceChildren(table);
    for (const [i, { by }] of columns.entries()) setAttribute(heads[i], 'aria-sort', order.by === by ? (order.down ? 'descending' : 'ascending') : null);
    const most = Object.fromEntries(['calls', 'input', 'output'].map((by) => [by, Math.max(1, ...rows.map((row) => row[by] ?? 0))]));
    keyed(body, sortStats(rows, order), (row) => row.tool, make, (node, row) => {
      for (const [i, { by }] of columns.slice(1).entries()) {
        const cell = node.children[i + 1];
        setText(cell.lastElementChild, count(row[by]));
        cell.firstElementChild.style.setProperty('--share', (row[by] ?? 0) / most[by]);
      }
      if (news.includes(row.tool)) flash(node);
    });
    const sum = sumStats(rows);
    for (const [i, { by }] of columns.slice(1).entries()) setText(sums[i], count(sum[by]));
  }

  function make(row) {
    return h('tr', null, h('th', { scope: 'row', class: 'cut', dir: 'auto', title: row.tool }, row.tool),
      columns.slice(1).map(({ by }) => h('td', { class: 'number bar-cell' }, h('span', { class: `bar bar-${by}`, 'aria-hidden': 'true' }), h('span', { class: 'bar-value' }))));
  }

  async function clear() {
    const { instance } = shown.found;
    const calls = sumStats(shown.rows ?? []).calls;
    const agreed = await confirm({
      title: `Reset the tool usage of ${instance.label}?`,
      body: `${calls === null ? 'All counts' : `The counts of ${plural(calls, 'call', 'calls')}`} are lost. Serena keeps no copy.`,
      action: 'Reset',
      danger: true,
    });
    if (!agreed) return;
    try {
      await budget(instance.id).run(() => requests(instance.id).post('clear_tool_stats'), { urgent: true });
      say(`The tool usage of ${instance.label} is reset.`, { kind: 'good' });
    } catch (error) {
      say(`The tool usage was not reset. ${error.message}`, { kind: 'bad' });
    }
    changed();
  }

  return { element: frame.element, update };
}

function flash(node) {
  node.classList.remove('called');
  void node.offsetWidth; // without it the animation would not begin again
  node.classList.add('called');
}
