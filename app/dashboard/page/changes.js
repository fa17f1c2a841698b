// What screen readers are told about changes: few words, and only of what
// somebody may have to act on.

import { state } from './format.js';
import { next } from './next.js';
import { announce } from './notice.js';

// changes lists what is worth saying between two states of the store, copies
// of {loaded, connected, trouble, instances, ended}. Pure.
export function changes(before, after) {
  const said = [];
  if (before.loaded && before.connected !== after.connected) said.push(after.connected ? 'Lamplighter answers again' : after.trouble);
  if (!before.loaded || !after.loaded) return said;
  const old = new Map(before.instances.map((one) => [one.id, one]));
  for (const one of after.instances) {
    const was = old.get(one.id);
    if (one.state === 'zombie' && was?.state !== 'zombie') said.push(`${one.label} needs attention: ${state(one)}`);
    else if (was?.state === 'zombie' && one.state !== 'zombie') said.push(`${one.label} is well again`);
    if (one.shutdown_at && was && !was.shutdown_at) said.push(`${one.label} will shut down${next(one).because}`);
  }
  const gone = new Set(before.ended.map((one) => one.instance.id));
  for (const one of after.ended) {
    if (!gone.has(one.instance.id) && old.has(one.instance.id)) said.push(`${one.instance.label} has ended`);
  }
  return said;
}

// announcer returns a reader of the store.
export function announcer() {
  let before = { loaded: false, connected: false, trouble: '', instances: [], ended: [] };
  return (after) => {
    for (const text of changes(before, after)) announce(text);
    before = { ...after };
  };
}
