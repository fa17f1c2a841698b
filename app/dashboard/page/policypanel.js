// The policies below the overview: how they stand, the switch of each rule, how to
// pause them, and the switch of start at login.

import { stop } from './actions.js';
import { atLogin } from './atlogin.js';
import { atLoginSwitch } from './atloginswitch.js';
import { h, keyed, setAttribute, setText } from './dom.js';
import { get, send } from './http.js';
import { say } from './notice.js';
import { effect, givenBack, missing, offered, restOfDay, standing } from './policies.js';
import { folded } from './section.js';
import { store } from './store.js';

// policyPanel returns {element, draw(state)}.
export function policyPanel() {
  const frame = folded('Policies', { name: 'policies', opened: () => atLogin.look() });
  const words = h('p', { class: 'muted' });
  const button = (text, run) => h('button', { type: 'button', class: 'small', onclick: run }, text);
  const pauses = [
    button('Pause for 1 h', () => pause(60)),
    button('Pause for today', () => pause(restOfDay(new Date()))),
    button('Pause until resumed', () => pause(null)),
  ];
  const resume = button('Resume', () => order({ paused: false }));
  const freed = h('p', { class: 'muted' });
  const groups = ['idle', 'orphans'].map((what) => ({ what, node: h('button', { type: 'button', class: 'small danger outlined', onclick: () => end(what) }) }));
  const ends = h('p', { class: 'policy-buttons policy-ends' }, groups.map((one) => one.node));
  const rules = h('ul', { class: 'policy-rules', 'aria-label': 'Rules' });
  frame.body.append(
    h('div', { class: 'policy' }, rules,
      h('div', { class: 'policy-standing' }, words, h('p', { class: 'policy-buttons' }, pauses, resume), freed, ends)),
    h('div', { class: 'policy-login' }, atLoginSwitch()));
  // The menu of the icon switches it too.
  document.addEventListener('visibilitychange', () => { if (!document.hidden && frame.element.open) atLogin.look(); });

  function draw({ status, loaded }) {
    const policy = status?.policy;
    frame.element.hidden = !loaded || !offered(policy);
    if (frame.element.hidden) return;
    const now = new Date();
    frame.count(standing(policy, now));
    setText(words, effect(policy, now));
    const focused = document.activeElement;
    for (const one of pauses) one.hidden = policy.paused;
    resume.hidden = !policy.paused;
    // Who has just paused goes on with how to take that back.
    if (pauses.includes(focused) && policy.paused) resume.focus();
    else if (focused === resume && !policy.paused) pauses[0].focus();
    keyed(rules, policy.rules, (rule) => rule.name, makeRule, drawRule);
    setText(freed, givenBack(status));
    for (const { what, node } of groups) {
      const number = policy[what] ?? 0;
      node.hidden = number === 0;
      setText(node, `Stop ${number} ${what === 'idle' ? 'idle' : 'orphaned'}…`);
    }
    ends.hidden = groups.every((one) => one.node.hidden);
  }

  return { element: frame.element, draw };
}

function makeRule({ name }) {
  const box = h('input', { type: 'checkbox', onclick: (event) => {
    event.preventDefault(); // it changes when lamplighter says so
    order({ rule: name, on: box.checked });
  } });
  return h('li', null, h('label', null, box, h('span', null)), h('span', { class: 'muted policy-missing' }));
}

function drawRule(node, rule) {
  const [label, needs] = node.children;
  const [box, words] = label.children;
  setText(words, rule.words);
  setAttribute(box, 'checked', rule.on && rule.set);
  setAttribute(box, 'disabled', !rule.set);
  setText(needs, missing(rule));
}

function pause(minutes) {
  return order({ paused: true, minutes });
}

// order asks for a change of the policies and shows what lamplighter answers,
// which the stream says again.
async function order(wish) {
  try {
    const answer = await send('PUT', 'policy', wish);
    const { policy } = store.state.status;
    if (answer?.rule) store.policy({ rules: policy.rules.map((rule) => (rule.name === answer.rule ? { ...rule, on: Boolean(answer.on) } : rule)) });
    else store.policy({ paused: Boolean(answer?.paused), paused_until: answer?.paused_until ?? null });
  } catch (error) {
    say(error.message, { kind: 'bad' });
  }
}

// end asks which ones are meant now, and goes on as for a selection.
async function end(what) {
  try {
    const { decisions } = await get(`decisions?what=${what}`);
    const list = decisions.filter((one) => one.do === 'end').map((one) => store.find(one.id)?.instance).filter(Boolean);
    if (list.length > 0) await stop(list);
    else say(`No server is ${what === 'idle' ? 'idle' : 'orphaned'} any more.`);
  } catch (error) {
    say(error.message, { kind: 'bad' });
  }
}
