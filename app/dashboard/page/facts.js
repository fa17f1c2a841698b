// What lamplighter itself knows about an instance, in words. Pure.

import { clientName } from './client.js';
import { bytes, clockTime, count, duration, moment, percent, plural } from './format.js';
import { next } from './next.js';
import { clientsInWords, countClients, isShared, programs, requests } from './sharing.js';

// idleSince is the moment an instance was last at work, null while it is, or
// when nobody knows. at is when the snapshot was made.
export function idleSince(instance, at) {
  if (instance.busy || instance.idle_seconds === null || instance.idle_seconds === undefined) return null;
  return moment(instance.last_activity) ?? new Date(moment(at).getTime() - instance.idle_seconds * 1000);
}

// activity is {text, at, because} like next.js: what it does now and what will
// happen.
export function activity(instance, { at, now, ending = '' }) {
  const { text: then, kind, ...plan } = next(instance, ending, now);
  // Of a parked one the reason says it all.
  if (instance.state === 'parked') return { text: ending, ...plan };
  const decided = kind === 'soon' || kind === 'kept';
  // What needs attention is not asked: what it last said may have been long ago.
  if (instance.state === 'zombie') return { text: decided ? then : '', ...plan };
  if (instance.busy) return { text: decided ? `busy, ${then}` : 'busy', ...plan };
  return { text: [idleWords(instance, at, now), then].filter(Boolean).join(', '), ...plan };
}

function idleWords(instance, at, now) {
  const last = idleSince(instance, at);
  if (last) return `idle since ${clockTime(last, now)}`;
  return instance.idle_since && !instance.busy ? `idle since ${clockTime(instance.idle_since, now)} at least` : '';
}

// headline is the facts in the header of an instance, [name, value, title],
// without those that are not known. Times are moments, for times.js.
export function headline(instance) {
  const { started_at: started, rss_bytes: rss, cpu_percent: cpu, tool_calls: calls, processes, pid, port } = instance;
  return [
    asker(instance),
    instance.waiting > 0 && ['requests', requests(instance.waiting), 'of its clients, not answered yet'],
    instance.saved_bytes > 0 && ['saves', bytes(instance.saved_bytes), 'that separate servers would need besides'],
    started && ['started', moment(started)],
    rss && ['memory', bytes(rss), processes ? `of ${plural(processes, 'process', 'processes')}` : null],
    cpu !== null && cpu !== undefined && ['CPU', percent(cpu), 'of one core'],
    calls !== null && calls !== undefined && ['calls', count(calls), 'that succeeded, since it started or was reset'],
    pid && ['pid', String(pid)],
    port && ['port', String(port)],
  ].filter(Boolean);
}

// asker is the client in the headline, all that share it, or whom a managed server
// was started for.
function asker(instance) {
  const { client, managed, clients = [] } = instance;
  if (isShared(instance)) {
    return [countClients(clients), programs(clients) || 'waits for the next', clients.map(({ name, pid }) => `${name || 'unknown program'} (process ${pid})`).join('\n') || null];
  }
  const title = client && `process ${client.pid}`;
  if (managed) return ['managed', client ? `for ${clientName(client)}` : 'by lamplighter', title];
  return client && ['client', clientName(client), title];
}

// everything is all that the wire says of a server whose dashboard cannot be
// asked, as [name, value]; what is not known is left out.
export function everything(instance) {
  const { client } = instance;
  return [
    ['Kind', instance.kind === 'serena' ? 'Serena' : instance.kind],
    ['Project', instance.project_name],
    ['Path', instance.project_root],
    ['Context', instance.context],
    ['Modes', instance.modes?.join(', ')],
    ['Version', instance.version],
    [instance.managed ? 'Asked for by' : 'Client', client && !isShared(instance) && (client.name ? `${client.name} (process ${client.pid})` : `process ${client.pid}`)],
    ['Process', instance.pid && String(instance.pid)],
    ['Processes', instance.processes && `${count(instance.processes)} with everything below it`],
    ['MCP address', instance.mcp_url],
    ['Started', moment(instance.started_at)],
    ['Last heartbeat', moment(instance.last_heartbeat)],
    ['Last activity', moment(instance.last_activity)],
    ['Idle', instance.busy ? 'no, it is busy' : instance.idle_seconds === null || instance.idle_seconds === undefined ? null : duration(instance.idle_seconds)],
    ['Transport', instance.transport],
    ['Connection', instance.orphaned ? 'nobody holds its other end' : instance.client_gone ? 'its client has ended' : null],
    ['Managed', instance.managed ? 'yes, lamplighter started it' : null],
    ['Shared by', isShared(instance) && clientsInWords(instance.clients ?? [])],
    ['Requests', requests(instance.waiting)],
    ['Sharing saves', instance.saved_bytes > 0 && bytes(instance.saved_bytes)],
    ['Not shared', instance.alone_because],
    ['Pinned', instance.pinned ? 'yes, no policy ends it' : null],
    ['Recognised', instance.recognised === false ? `no: ${instance.alone_because ? 'a client runs it' : 'it registered itself'}, so it is shown, and never ended` : null],
  ].filter(([, value]) => value);
}

// whyUnasked says why there is nothing from the server itself.
export function whyUnasked(instance) {
  if (instance.state === 'parked') return `It is parked${instance.reason ? `: ${instance.reason}` : ''}. Its clients stay attached, and nothing of it runs until then.`;
  if (instance.state === 'starting') return 'It is starting. Its dashboard has not answered yet.';
  if (instance.cause === 'defunct') return 'It has exited, and its parent has not taken notice of that. Only an entry in the process table is left.';
  if (instance.kind !== 'serena') return 'This is what can be seen from outside.';
  return 'Its dashboard is switched off or cannot be found. This is what can be seen from outside.';
}

// askable tells whether there is a dashboard to ask.
export function askable(instance) {
  return Boolean(instance.dashboard_url && instance.port) && instance.state !== 'parked' && instance.cause !== 'defunct';
}
