// What the welcome says. Pure.

import { count, plural } from './format.js';
import { offered } from './policies.js';

// sees says what it shows, with how many there are now.
export function sees(servers) {
  const now = servers === 0 ? 'None runs now; each appears here by itself.' : `${servers === 1 ? 'One runs' : `${count(servers)} run`} now.`;
  return `The MCP servers that your assistants start: whose they are, what they work on and how much memory they use. ${now}`;
}

// does says what it ends by itself, as its policies stand now.
export function does(policy) {
  const tells = 'Of everything else it only tells you.';
  if (offered(policy) && !policy.active) return 'Another lamplighter acts on the policies, so this one ends nothing by itself.';
  const rules = offered(policy) ? policy.rules.filter((rule) => rule.on && rule.set && rule.words.startsWith('End ')) : [];
  if (rules.length === 0) return 'It ends nothing by itself; it only tells you.';
  if (policy.paused) return 'Its policies are paused, so it ends nothing by itself now.';
  const what = rules.map((rule) => rule.words.slice('End '.length));
  const all = what.length === 1 ? what[0] : `${what.slice(0, -1).join(', ')} and ${what.at(-1)}`;
  const orphans = rules.some((rule) => rule.name === 'orphans') ? ' Orphaned means that its client is proven to be gone.' : '';
  return `It ends ${all}, and shows that minutes before.${orphans} ${tells}`;
}

// leaves says what it never does by itself.
export const leaves = 'It ends no server that is in use, changes no settings of a client unless you say so, and sends nothing off this machine: no statistics, no check for updates.';

// offer says what setup could change: clients is null where that is not known.
export function offer(clients) {
  if (clients === null || clients === undefined) return '';
  if (clients === 0) return 'There is nothing to change in them now.';
  return `${plural(clients, 'client starts', 'clients start')} a Serena that does not run through Lamplighter yet.`;
}
