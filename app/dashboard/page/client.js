// Who started an instance and uses it, or whom lamplighter has started it for, in
// the words of the menu and of `lamplighter status`. Pure.

import { clientsInWords, countClients, isShared } from './sharing.js';

// clientName is what to call a client.
export function clientName(client) {
  return client.name || `process ${client.pid}`;
}

// clientWords names the client of an instance, or all that share it; of a managed
// one it says so. It is empty when the client is not known.
export function clientWords(instance) {
  if (isShared(instance)) return clientsInWords(instance.clients ?? []);
  const { client, managed } = instance;
  const name = client ? clientName(client) : '';
  if (!managed) return name;
  return name ? `managed, for ${name}` : 'managed';
}

// clientBrief is the same for a narrow column.
export function clientBrief(instance) {
  const { client, managed, clients = [] } = instance;
  if (isShared(instance)) return clients.length === 1 ? clientName(clients[0]) : countClients(clients);
  return managed && client ? `for ${clientName(client)}` : clientWords(instance);
}
