// The order of things that come and go while somebody looks at them. Pure, on
// ids.

// arrange puts the living in their order and each ended one after the neighbour
// it had. With hold the order of before stays, and what is new comes last.
export function arrange(before, living, ended, hold = false) {
  const present = new Set([...living, ...ended]);
  const place = new Map(before.map((id, i) => [id, i]));
  if (hold) {
    const kept = before.filter((id) => present.has(id));
    return [...kept, ...[...present].filter((id) => !place.has(id))];
  }
  const order = [...living];
  const placed = new Set(living);
  const lost = ended.filter((id) => !placed.has(id));
  lost.sort((a, b) => (place.get(a) ?? Infinity) - (place.get(b) ?? Infinity) || 0);
  for (const id of lost) {
    order.splice(after(before, place.get(id), order), 0, id);
    placed.add(id);
  }
  return order;
}

// after is where in order the neighbour ends that stood before index i.
function after(before, i, order) {
  if (i === undefined) return order.length;
  for (let k = i - 1; k >= 0; k--) {
    const at = order.indexOf(before[k]);
    if (at >= 0) return at + 1;
  }
  return 0;
}

// neighbour is the id one step away, going around at the ends; current need
// not be in the list.
export function neighbour(order, current, step) {
  if (order.length === 0) return undefined;
  const i = order.indexOf(current);
  if (i < 0) return order[step > 0 ? 0 : order.length - 1];
  return order[(i + step + order.length) % order.length];
}

// range are the ids from one to another, both included, in either direction.
export function range(order, from, to) {
  const a = order.indexOf(from);
  const b = order.indexOf(to);
  if (a < 0 || b < 0) return b < 0 ? [] : [to];
  return order.slice(Math.min(a, b), Math.max(a, b) + 1);
}
