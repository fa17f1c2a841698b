// Last Execution: what the server did last, and whether it succeeded.

import { h, setText } from './dom.js';
import { fillTask, taskLabel, wasCancelled } from './queue.js';
import { section, skeleton } from './section.js';
import { setTime, time } from './times.js';

export function executionSection() {
  const frame = section('Last Execution', { kind: 'execution' });
  const label = taskLabel();
  const outcome = h('strong', { class: 'outcome' });
  const when = time(null);
  const line = h('p', { class: 'last-task' }, outcome, ' ', label, ' ', h('span', { class: 'muted' }, when));
  const nothing = h('p', { class: 'section-empty muted' }, 'Nothing was executed yet.');
  frame.body.append(skeleton(1));

  function update(record, found) {
    if (!frame.condition(record, found)) {
      if (!record.trouble && !found.ended) frame.body.replaceChildren(skeleton(1));
      return;
    }
    const { task } = record.value;
    const wanted = task ? line : nothing;
    if (!wanted.isConnected) frame.body.replaceChildren(wanted);
    if (!task) return;
    const result = outcomeOf(task, wasCancelled(found.instance.id, task));
    setText(outcome, result.words);
    outcome.dataset.kind = result.kind;
    fillTask(label, task);
    const at = executedAt(record.value, found.instance);
    when.hidden = !at;
    setTime(when, at);
  }

  return { element: frame.element, update };
}

// outcomeOf puts a result into words. Serena tells a cancelled task apart from
// a failed one only to who cancelled it.
export function outcomeOf(task, cancelledHere) {
  if (task.success) return { words: 'Succeeded', kind: 'good' };
  if (task.success === null) return { words: 'Finished', kind: 'plain' };
  if (cancelledHere) return { words: 'Cancelled', kind: 'plain' };
  return { words: 'Failed or cancelled', kind: 'bad' };
}

// executedAt is when a task ended, as far as somebody saw it: this page, or
// lamplighter, whose time is of the last activity. Serena does not tell.
export function executedAt({ seen }, instance) {
  return seen ?? instance.last_activity;
}
