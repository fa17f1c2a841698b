// Executions Queue: what runs in the server and what waits, and Last Execution
// in execution.js.

import { readCancelled } from './answers.js';
import { confirm } from './dialog.js';
import { h, keyed, replace, setText } from './dom.js';
import { instance as requests } from './http.js';
import { say } from './notice.js';
import { budget } from './poll.js';
import { section, skeleton } from './section.js';
import { setTime, time } from './times.js';

// cancelled remembers what was cancelled from here, because Serena says only
// that it did not succeed. Ids come again, so the name counts too.
const cancelled = new Set();
const mark = (id, task) => `${id} ${task.id} ${task.number} ${task.name}`;

export function wasCancelled(id, task) {
  return cancelled.has(mark(id, task));
}

// queueSection draws it; changed is called after an order to cancel.
export function queueSection({ changed }) {
  const frame = section('Executions Queue', { kind: 'queue' });
  const list = h('ol', { class: 'tasks' });
  const nothing = h('p', { class: 'section-empty muted' }, 'Nothing runs and nothing waits.');
  frame.body.append(skeleton(1));
  let found = null;

  function update(record, next) {
    found = next;
    if (!frame.condition(record, found)) {
      if (!record.trouble && !found.ended) frame.body.replaceChildren(skeleton(1));
      return;
    }
    const tasks = found.ended ? [] : record.value;
    if (tasks.length === 0) {
      setText(nothing, found.ended ? 'Nothing runs any more.' : 'Nothing runs and nothing waits.');
      if (!nothing.isConnected) frame.body.replaceChildren(nothing);
    } else if (!list.isConnected) frame.body.replaceChildren(list);
    keyed(list, tasks, (task) => `${found.instance.id} ${task.id} ${task.number}`, make, fill);
  }

  function make() {
    const since = time(null, { suffix: '' });
    const cancel = h('button', { type: 'button', class: 'small quiet danger' }, 'Cancel…');
    const node = h('li', { class: 'task' }, h('span', { class: 'task-mark', 'aria-hidden': 'true' }), taskLabel(), h('span', { class: 'task-since muted' }, h('span', { title: 'for as long as this page has seen it' }), ' ', since), cancel);
    cancel.addEventListener('click', () => ask(node.task));
    return node;
  }

  function fill(node, task) {
    node.task = task;
    node.classList.toggle('running', task.running);
    fillTask(node.children[1], task);
    setText(node.children[2].firstElementChild, task.running ? 'running' : 'waiting');
    setTime(node.children[2].lastElementChild, task.since);
    node.lastElementChild.setAttribute('aria-label', `Cancel ${task.name}`);
  }

  async function ask(task) {
    const { instance } = found;
    const agreed = await confirm({
      title: `Cancel ${task.name}?`,
      body: task.running
        ? 'Serena stops waiting for it, and its client gets an error instead of a result. What it has begun may go on until it is done.'
        : 'It will not be started, and its client gets an error instead of a result.',
      action: 'Cancel it',
      cancel: 'Leave it',
      danger: true,
    });
    if (!agreed) return;
    try {
      const answer = readCancelled(await budget(instance.id).run(() => requests(instance.id).post('cancel_task_execution', { task_id: task.id }), { urgent: true }));
      if (answer.cancelled) {
        cancelled.add(mark(instance.id, task));
        say(`Serena has cancelled ${task.name}.${answer.message ? ` Serena says: ${answer.message}` : ''}`, { kind: 'good' });
      } else {
        // What Serena says then is an error of its own code, and no reason.
        say(`${task.name} was not cancelled: it had finished already.`);
      }
    } catch (error) {
      say(`${task.name} is not cancelled. ${error.message}`, { kind: 'bad' });
    }
    changed();
  }

  return { element: frame.element, update };
}

// taskLabel is a node for fillTask, which writes the name of a task and what
// else tells it apart.
export function taskLabel() {
  return h('span', { class: 'task-label' }, h('span', { class: 'task-name cut', dir: 'auto' }), ' ', h('span', { class: 'muted task-kind' }));
}

export function fillTask(node, task) {
  const [name, kind] = node.children;
  setText(name, task.name);
  if (name.title !== task.name) name.title = task.name;
  if (task.background) setText(kind, 'background task');
  else if (task.number !== null) setText(kind, `task ${task.number}`);
  else replace(kind);
}
