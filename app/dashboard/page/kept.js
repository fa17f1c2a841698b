// What instances answered last, so that a tab shows at once what it showed
// before, and one that ended stays readable. In memory, for the page.

const most = 60; // instances; an answer to get_config_overview has some 20 kB

const all = new Map(); // id → answers, the one used last at the end

// empty is an answer that has not come. at is when it came; trouble says why a
// later one did not, see schedule.js.
export const empty = Object.freeze({ value: undefined, at: null, trouble: null });

// kept is the answers of an instance, by kind.
export function kept(id) {
  const there = all.get(id) ?? {};
  all.delete(id);
  all.set(id, there);
  if (all.size > most) all.delete(all.keys().next().value);
  return there;
}

// answered tells whether anything is kept of an instance.
export function answered(id) {
  return Object.values(all.get(id) ?? {}).some((record) => record.value !== undefined);
}
