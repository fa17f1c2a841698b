import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clientBrief, clientWords } from '../page/client.js';
import { everything, headline, whyUnasked } from '../page/facts.js';
import { head } from '../page/format.js';
import { next } from '../page/next.js';
import { losses } from '../page/orders.js';
import { columns, matches, words } from '../page/rows.js';
import { clientsInWords, requests, saves, woke } from '../page/sharing.js';
import { Store } from '../page/store.js';

const client = (name, pid = 1) => ({ name, pid });
const of = (...names) => names.map((name, i) => client(name, i + 1));
const shared = (more = {}) => {
  const clients = more.clients ?? of('Claude Code', 'Codex', 'Claude Code');
  return {
    id: '7-1', label: '4 - alpha', kind: 'serena', state: 'live_with_project', project_root: '/w/alpha', cause: null, reason: null, managed: true, pid: 7, port: 24284,
    client: clients[0] ?? null, clients, shared_by: clients.length, waiting: 0, alone_because: null, saved_bytes: null, ...more,
  };
};

test('clients are counted and named', () => {
  const table = [
    [[], 'no clients'],
    [['Codex'], '1 client: Codex'],
    [['Claude Code', 'Codex', 'Claude Code'], '3 clients: Claude Code ×2, Codex'],
    [['a', '', 'b', 'b'], '4 clients: b ×2, a, unknown program'],
    [['a', 'b', 'c', 'd', 'e', 'e', 'f'], '7 clients: e ×2, a, b, c and 2 more'],
  ];
  for (const [names, want] of table) assert.equal(clientsInWords(of(...names)), want);
});

test('a shared one names its clients in every view', () => {
  const one = shared({ waiting: 3, saved_bytes: 216e6 });
  assert.equal(clientWords(one), '3 clients: Claude Code ×2, Codex');
  assert.equal(clientBrief(one), '3 clients');
  assert.equal(clientBrief(shared({ clients: of('Codex') })), 'Codex');
  assert.equal(clientBrief(shared({ clients: [] })), 'no clients');
  const lines = headline(one).map(([name, value]) => `${name}: ${value}`);
  assert.deepEqual(lines.slice(0, 3), ['3 clients: Claude Code ×2, Codex', 'requests: 3 under way, one after another', 'saves: 216 MB']);
  const facts = new Map(everything(one));
  assert.equal(facts.get('Shared by'), '3 clients: Claude Code ×2, Codex');
  assert.equal(facts.has('Asked for by'), false);
  assert.equal(columns.find(({ key }) => key === 'client').text(one), '3 clients');
  assert.ok(matches(one, words('codex')));
  assert.equal(next(one).text, 'is parked when idle');
  assert.equal(next({ ...one, pinned: true }).text, 'stays: it is pinned');
  assert.equal(requests(1), '1 under way');
  assert.equal(requests(null), '');
});

test('one that a client has for itself says why', () => {
  const alone = shared({ shared_by: null, managed: false, clients: of('Codex'), alone_because: 'its context codex can change the project' });
  assert.equal(new Map(everything(alone)).get('Not shared'), 'its context codex can change the project');
  assert.ok(matches(alone, words('context codex')));
  assert.equal(clientWords(alone), 'Codex');
});

test('a parked one has no process and keeps its clients', () => {
  const parked = shared({ state: 'parked', pid: null, port: null, reason: 'no request for 10 min; wakes at the next request' });
  assert.match(whyUnasked(parked), /^It is parked: no request for 10 min; .*clients stay attached/);
  assert.equal(next(parked).text, 'wakes at the next request');
});

test('to stop a shared one loses no client', () => {
  assert.deepEqual(losses(shared()), ['3 clients stay attached, and the next request starts it again.']);
  assert.deepEqual(losses(shared({ clients: of('Codex'), busy: true })), ['A call is running in it; its result will be lost.', '1 client stays attached, and the next request starts it again.']);
  assert.deepEqual(losses(shared({ clients: [] })), ['No client has it now.']);
});

test('what sharing saves is in the one line', () => {
  const list = [shared({ rss_bytes: 100e6, saved_bytes: 200e6 }), shared({ id: '8-1', state: 'parked', saved_bytes: 124e6 })];
  assert.equal(head(list), '2 servers, 1 parked, 100 MB, sharing saves 324 MB');
  assert.equal(saves(list), 'sharing saves 324 MB');
  assert.equal(saves([shared()]), '');
});

test('a parked one is found by its id after it woke', () => {
  const store = new Store();
  const parked = shared({ state: 'parked', pid: null, port: null });
  const other = shared({ id: '9-1', pid: 9, port: 24290, project_root: '/w/beta' });
  store.snapshot({ instances: [parked, other] });
  const woken = shared({ id: '12-3', pid: 12, port: 24299 });
  store.snapshot({ instances: [other, woken] });
  assert.equal(store.find('7-1').instance, woken);
  assert.deepEqual(store.state.ended, [], 'it has not ended');
  store.snapshot({ instances: [other, { ...woken, state: 'parked', pid: null, port: null }] });
  const again = shared({ id: '15-3', pid: 15 });
  store.snapshot({ instances: [other, again] });
  assert.equal(store.find('7-1').instance, again);
  assert.equal(woke(parked, [parked], [shared({ id: '20-1', clients: [client('x', 99)] })]), null, 'another group of the same project');
});
