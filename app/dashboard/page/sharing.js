// Who has a server through lamplighter, in the words of the menu and of
// `lamplighter status`. Pure.

import { bytes, plural } from './format.js';

const named = 4; // programs that are named

// isShared tells whether its clients have it through lamplighter and may be
// several.
export function isShared(instance) {
  return instance.shared_by !== null && instance.shared_by !== undefined;
}

// countClients is "3 clients", "no clients".
export function countClients(clients) {
  return clients.length === 0 ? 'no clients' : plural(clients.length, 'client', 'clients');
}

// programs names the programs of clients, those of most clients first: "Claude
// Code ×2, Codex".
export function programs(clients) {
  const count = new Map();
  for (const { name } of clients) count.set(name || 'unknown program', (count.get(name || 'unknown program') ?? 0) + 1);
  const sorted = [...count].sort(([, a], [, b]) => b - a);
  const words = sorted.slice(0, named).map(([name, n]) => (n > 1 ? `${name} ×${n}` : name)).join(', ');
  const left = sorted.slice(named).reduce((sum, [, n]) => sum + n, 0);
  return left > 0 ? `${words} and ${left} more` : words;
}

// clientsInWords is "3 clients: Claude Code ×2, Codex".
export function clientsInWords(clients) {
  return clients.length === 0 ? countClients(clients) : `${countClients(clients)}: ${programs(clients)}`;
}

// requests says how many wait for their answer, '' for none.
export function requests(waiting) {
  if (!waiting) return '';
  return waiting === 1 ? '1 under way' : `${waiting} under way, one after another`;
}

// saves says what separate servers would need besides, '' for nothing.
export function saves(instances) {
  const sum = instances.reduce((all, one) => all + (one.saved_bytes ?? 0), 0);
  return sum > 0 ? `sharing saves ${bytes(sum)}` : '';
}

// woke finds what a parked instance runs as, after it has gone from the list: a
// shared one that is new for the same project and has a client of it; null when
// there is none.
export function woke(parked, before, instances) {
  const known = new Set(before.map((one) => one.id));
  const clients = new Set((parked.clients ?? []).map((one) => one.pid));
  return instances.find((one) => !known.has(one.id) && isShared(one) && one.project_root === parked.project_root && one.kind === parked.kind
    && (one.clients ?? []).some(({ pid }) => clients.has(pid))) ?? null;
}
