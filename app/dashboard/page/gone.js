// Instances that are no longer in the snapshot. Lamplighter lists those that
// have ended; the page bridges the moment before it does, and a restart of
// lamplighter, after which it no longer knows. Pure.

export const keepTime = 10 * 60_000; // ms that an ended one stays readable
const bridgeTime = 3_000; // ms until lamplighter must have said that it ended

export const missed = 'it was no longer there when lamplighter answered again';

// merge returns the map of id → {instance, ended_at, why, sure} after news.
// ended is lamplighter's list, null when the news is a snapshot. An entry that
// is not sure is the page's own guess and does not last.
export function merge(gone, { before, instances, ended, now, reconnected }) {
  const after = new Map(gone);
  const living = new Set(instances.map((one) => one.id));
  if (ended === null) {
    for (const instance of before) {
      // A parked one leaves the list when it wakes, under another id.
      if (living.has(instance.id) || after.has(instance.id) || instance.state === 'parked') continue;
      after.set(instance.id, { instance, ended_at: now.toISOString(), why: reconnected ? missed : '', sure: reconnected });
    }
  }
  for (const one of ended ?? []) {
    if (one?.instance?.id) after.set(one.instance.id, { instance: one.instance, ended_at: one.ended_at, why: one.why ?? '', sure: true });
  }
  for (const id of living) after.delete(id);
  return after;
}

// sweep leaves out what has been gone for long enough, or was never confirmed.
export function sweep(gone, now) {
  const after = new Map();
  for (const [id, one] of gone) {
    const age = now - new Date(one.ended_at);
    if (age < (one.sure ? keepTime : bridgeTime)) after.set(id, one);
  }
  return after;
}
