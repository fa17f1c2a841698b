// The header of an instance: what it is, how it is, what it costs, and what can
// be done.

import { actionBar } from './actions.js';
import { activity, headline } from './facts.js';
import { h, keyed, setAttribute, setText } from './dom.js';
import { state as stateWords } from './format.js';
import { setLabel } from './label.js';
import { setMark } from './marks.js';
import { offered } from './policies.js';
import { explain } from './why.js';
import { store } from './store.js';
import { setTime, time } from './times.js';

export function instanceHead() {
  const holder = h('span', { class: 'mark-holder' });
  const title = h('h1', { class: 'cut' }, h('span', null), h('bdi', null));
  const state = h('strong', { class: 'state-words' });
  const reason = h('span', { class: 'reason', dir: 'auto' });
  const command = h('code', { class: 'copied' });
  const advice = h('span', null, 'Continue it with: ', command);
  const doing = h('span');
  const planned = time(null, { suffix: 'ahead' });
  const because = h('span');
  const plan = h('span', { class: 'doing muted' }, doing, ' ', planned, because);
  const why = h('button', { type: 'button', class: 'quiet small why', onclick: () => explain(now) }, 'Why?');
  const ended = h('span', { class: 'reason' });
  const endedAt = time(null);
  const facts = h('dl', { class: 'headline' });
  const actions = h('div', { class: 'instance-actions' });
  const element = h('header', { class: 'instance-head' },
    h('div', { class: 'instance-title' }, holder, title),
    actions,
    h('p', { class: 'instance-state' }, state, reason, advice, ended, plan, why),
    facts);
  let now = null;
  let bar = null;
  let shown = '';

  function update(found) {
    const { instance } = found;
    const over = Boolean(found.ended_at);
    now = instance;
    setMark(holder, instance.state, { ended: over });
    setAttribute(title, 'title', setLabel(title, instance));
    element.dataset.state = over ? 'ended' : instance.state;
    setText(state, over ? 'ended' : stateWords(instance));
    setText(reason, over ? '' : reasonOf(instance));
    reason.hidden = reason.textContent === '';
    advice.hidden = over || instance.cause !== 'suspended';
    setText(command, `kill -CONT ${instance.pid}`);
    ended.hidden = !over;
    if (over) {
      setText(ended, found.why || 'nobody saw why');
      if (!endedAt.isConnected) ended.after(endedAt);
      setTime(endedAt, found.ended_at);
    }
    endedAt.hidden = !over;
    const next = activity(instance, { at: store.state.at ?? Date.now(), now: Date.now(), ending: store.state.pending?.get(instance.id) ?? '' });
    plan.hidden = over || !(next.text || next.at);
    setText(doing, next.text);
    planned.hidden = !next.at;
    setTime(planned, next.at);
    setText(because, next.because);
    plan.dataset.kind = next.at ? 'soon' : 'plain';
    why.hidden = over || !offered(store.state.status?.policy);
    keyed(facts, headline(instance), ([name]) => name, make, fill);
    act(instance, over);
  }

  function make([name, value]) {
    return h('div', null, h('dt', null, name), h('dd', { dir: 'auto' }, value instanceof Date ? time(value, { suffix: 'ago' }) : ''));
  }

  function fill(node, [, value, hint]) {
    const cell = node.lastElementChild;
    if (value instanceof Date) setTime(cell.firstElementChild, value);
    else setText(cell, value);
    setAttribute(node, 'title', hint ?? null);
  }

  // One bar per instance: an order is about the one it was pressed for.
  function act(instance, over) {
    if (shown !== instance.id) {
      shown = instance.id;
      bar = actionBar(instance);
      actions.replaceChildren(bar);
    }
    bar.update(instance, { ended: over });
  }

  return { element, update };
}

// reasonOf leaves out what the state says already.
function reasonOf(instance) {
  const plain = instance.state === 'live_with_project' || instance.state === 'live_no_project';
  return plain ? '' : instance.reason ?? '';
}
