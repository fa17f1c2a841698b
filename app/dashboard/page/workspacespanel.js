// The workspaces: those that there are, those that are being made, and the
// worktrees that others have left behind. It follows them while it is shown.

import { h, keyed, setAttribute, setText } from './dom.js';
import { count, plural, sentence } from './format.js';
import { bind } from './keys.js';
import { announce } from './notice.js';
import { skeleton } from './section.js';
import { matching, orders, sorted, summary } from './workspaces.js';
import { follower } from './workspacesfollow.js';
import { makingRow, row } from './workspacesrow.js';
import { scanPanel } from './workspacesscan.js';

const portion = 200; // rows that are drawn without being asked for

// workspacesView returns {element, show({focus}), hide()}, as clientsView. heading
// is the id of its heading.
export function workspacesView({ heading, opener }) {
  let known = null; // {workspaces, making, problem} as they were told last
  let trouble = '';
  let most = portion;
  let shown = false;
  const opened = new Set();

  const title = h('h2', { id: heading, tabindex: -1 }, 'Workspaces');
  const short = h('p', { class: 'muted' });
  const field = h('input', { type: 'search', 'aria-label': 'Filter workspaces', placeholder: 'Filter workspaces', autocomplete: 'off', spellcheck: 'false', dir: 'auto', oninput: () => { most = portion; draw(); } });
  const order = h('select', { 'aria-label': 'Order of the workspaces', onchange: draw }, orders.map(({ key, words }) => h('option', { value: key }, words)));
  const tools = h('div', { class: 'workspace-tools' }, field, h('label', null, h('span', { class: 'muted', 'aria-hidden': 'true' }, 'first: '), order));
  const failed = h('p', { class: 'workspace-problem', role: 'alert', dir: 'auto', hidden: true });
  const waiting = h('div', { class: 'card setup-waiting' }, h('p', { class: 'unseen' }, 'Looking for workspaces'), skeleton(4));
  const makings = h('ul', { class: 'card workspace-makings', 'aria-label': 'Being worked on' });
  const items = h('ul', { class: 'card workspace-list', 'aria-label': 'Workspaces' });
  const nothing = h('p', { class: 'workspace-none', role: 'status' });
  const more = h('button', { type: 'button', onclick: showMore });
  const none = emptyState();
  const scan = scanPanel();
  const element = h('div', { class: 'workspaces' },
    h('div', { class: 'setup-head' }, title, short, h('span', { class: 'grow' }), tools),
    h('p', { class: 'setup-about muted' }, 'A directory of its own for each job, taken away in time. Work that is nowhere else is not lost unless you say so.'),
    failed, waiting, makings, items, nothing, more, none, scan.element);

  const stream = follower({
    got(news) {
      tellEnds(known, news);
      known = news;
      trouble = '';
      draw();
    },
    lost(words) {
      trouble = words;
      draw();
    },
  });

  function draw() {
    const { workspaces, making, problem } = known ?? { workspaces: [], making: [], problem: '' };
    const wrong = trouble || problem;
    setText(failed, wrong && `${sentence(wrong)}${trouble && known ? ' What is shown is from before.' : ''}`);
    failed.hidden = wrong === '';
    element.classList.toggle('workspaces-old', trouble !== '' && known !== null);
    waiting.hidden = known !== null || trouble !== '';
    setText(short, known ? summary(workspaces, making) : '');
    makings.hidden = making.length === 0;
    keyed(makings, making, (one) => one.id, makingRow, (node, one) => node.update(one));
    const matches = sorted(matching(workspaces, field.value), order.value);
    keyed(items, matches.slice(0, most), (one) => one.id, () => row(opened), (node, one) => node.update(one));
    items.hidden = matches.length === 0;
    tools.hidden = workspaces.length === 0;
    setText(nothing, workspaces.length > 0 && matches.length === 0 ? `No workspace matches “${field.value.trim()}”.` : '');
    nothing.hidden = nothing.textContent === '';
    const rest = matches.length - most;
    more.hidden = rest <= 0;
    setText(more, `Show ${count(Math.min(rest, portion))} more of ${count(matches.length)}`);
    none.hidden = known === null || workspaces.length > 0 || making.length > 0;
    for (const id of opened) if (known && !workspaces.some((one) => one.id === id)) opened.delete(id);
    keepFocus();
  }

  function showMore() {
    const next = items.childElementCount;
    most += portion;
    draw();
    items.children[next]?.querySelector('.workspace-job')?.focus();
  }

  // keepFocus leads whoever was at a workspace that has gone to the heading.
  let within = false;
  element.addEventListener('focusin', (event) => { within = items.contains(event.target); });
  function keepFocus() {
    if (!shown || !within || document.activeElement !== document.body || document.querySelector('dialog[open]')) return;
    within = false;
    title.focus({ preventScroll: true });
  }

  bind('/', 'filter the workspaces', () => { field.focus(); field.select(); }, { when: () => shown });
  document.addEventListener('visibilitychange', () => {
    if (!shown) return;
    if (document.hidden) stream.stop();
    else stream.start();
  });

  return {
    element,
    show({ focus }) {
      if (shown) return;
      shown = true;
      if (!document.hidden) stream.start();
      if (focus) title.focus();
    },
    hide() {
      if (!shown) return;
      shown = false;
      stream.stop();
      scan.hide();
      if (element.contains(document.activeElement)) opener()?.focus();
    },
  };
}

// tellEnds tells screen readers of what was being made and is whole.
function tellEnds(before, now) {
  if (!before) return;
  const going = new Set(now.making.map((one) => one.id));
  const there = new Set(before.workspaces.map((one) => one.id));
  const whole = now.workspaces.filter((one) => !there.has(one.id) && !going.has(one.id) && before.making.some((made) => made.id === one.id));
  if (whole.length === 1) announce(`The workspace for ${whole[0].job} is ready`);
  else if (whole.length > 1) announce(`${plural(whole.length, 'workspace is', 'workspaces are')} ready`);
}

function emptyState() {
  return h('div', { class: 'empty', hidden: true },
    h('img', { src: 'assets/lantern.svg', alt: '', width: 56, height: 56 }),
    h('h3', null, 'No workspaces yet'),
    h('p', null, 'Give a job a directory of its own, in a terminal:'),
    h('div', { class: 'command' }, h('code', null, 'lamplighter workspace create --kind temp --from . --job NAME')),
    h('p', { class: 'muted' }, 'It appears here while it is made, and goes when its job ends.'));
}
