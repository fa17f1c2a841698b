// How the policies stand, in words. Pure.

import { bytes, clockTime, count, moment } from './format.js';

// offered tells whether there are policies at all.
export function offered(policy) {
  return policy?.rules?.length > 0;
}

// standing is the short form: what a closed panel tells.
export function standing(policy, now) {
  if (policy.paused) return paused(policy, now);
  const on = policy.rules.filter((rule) => rule.on && rule.set).length;
  return on === 0 ? 'all off' : `${count(on)} of ${count(policy.rules.length)} on`;
}

export function paused({ paused_until: until }, now) {
  return until ? `paused until ${clockTime(until, now)}` : 'paused until resumed';
}

// effect says what that means for the servers.
export function effect(policy, now) {
  if (!policy.active) return 'Another lamplighter acts on them; this one only shows them.';
  if (policy.paused) return `They are ${paused(policy, now)}: nothing is ended, and you are told of nothing.`;
  return 'What is to be ended is shown minutes before.';
}

// decided puts a decision into a sentence.
export function decided({ do: what, at, reason, because }, now) {
  const leads = { end: 'It is ended now', wait: `It will be ended ${at ? `at ${clockTime(at, now)}` : 'later'}`, refuse: 'It is left alone', notify: 'You are told' };
  return `${Object.hasOwn(leads, what) ? leads[what] : what}: ${[reason, because].filter(Boolean).join(', but ')}.`;
}

const settings = {
  orphans: 'orphan_grace_minutes', idle: 'idle_shutdown_minutes', zombies: 'zombie_prune_minutes', memory: 'memory_notify', duplicates: 'duplicates',
};

// missing says what a rule that has nothing to do waits for.
export function missing({ name, set }) {
  if (set) return '';
  return Object.hasOwn(settings, name) ? `set ${settings[name]} to use it` : 'it needs a setting';
}

// restOfDay is the number of minutes until midnight, at least one.
export function restOfDay(now) {
  const end = new Date(now);
  end.setHours(24, 0, 0, 0);
  return Math.max(1, Math.ceil((end - now) / 60_000));
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

// givenBack tells how much memory was given back since when; nothing is ''.
export function givenBack(status) {
  const { given_back_bytes: back = 0, given_back_since: since = null } = status ?? {};
  if (back === 0) return '';
  return since ? `${bytes(back)} given back since ${day.format(moment(since))}` : `${bytes(back)} given back`;
}
