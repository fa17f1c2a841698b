// Who started an instance and uses it, or whom lamplighter has started it for, in
// the words of the menu and of `lamplighter status`. Pure.

// clientName is what to call a client.
export function clientName(client) {
  return client.name || `process ${client.pid}`;
}

// clientWords names the client of an instance; of a managed one it says so. It is
// empty when the client is not known.
export function clientWords({ client, managed }) {
  const name = client ? clientName(client) : '';
  if (!managed) return name;
  return name ? `managed, for ${name}` : 'managed';
}

// clientBrief is the same for a narrow column.
export function clientBrief({ client, managed }) {
  return managed && client ? `for ${clientName(client)}` : clientWords({ client, managed });
}
