// What will happen to an instance, as far as it is known. Pure.

import { clockTime } from './format.js';
import { isShared } from './sharing.js';

// next returns {text, at, because, kind}: at is the moment of a planned shutdown,
// which the view puts into words that follow the clock, and because is what comes
// after them; kind is 'soon', 'kept', 'plain' or 'none'. ending is what the page
// itself has ordered, if anything.
export function next(instance, ending = '', now = Date.now()) {
  const { shutdown_at: at = null, shutdown_reason: reason, kept_until: kept } = instance;
  const told = (text, kind) => ({ text, at: null, because: '', kind });
  if (ending) return told(ending, 'soon');
  if (at) return { text: 'will shut down', at, because: reason ? `, because ${reason}` : '', kind: 'soon' };
  if (instance.state === 'parked') return told('wakes at the next request', 'plain');
  if (instance.state === 'starting') return told(instance.reason || 'is starting', 'plain');
  if (instance.recognised === false) return told('never ended: its program is not known', 'plain');
  if (instance.pinned) return told('stays: it is pinned', 'plain');
  if (kept) return told(`kept until ${clockTime(kept, now)}`, 'kept');
  if (isShared(instance) && instance.state !== 'zombie') return told('is parked when idle', 'plain');
  // What is wrong with a red one stands beside its state.
  if (instance.state === 'zombie') return told('nothing planned', 'none');
  // A server that speaks over pipes ends with the client that holds them. One
  // that listens does not end with who started it.
  if (instance.client && !instance.managed && !instance.mcp_url) return told('ends with its client', 'plain');
  return told('nothing planned', 'none');
}
