import assert from 'node:assert/strict';
import test from 'node:test';

import { Unreadable } from '../page/query.js';
import {
  grown, mergeQueue, readCancelled, readEstimator, readLast, readMemory, readOverview, readQueue, readStats, refused, sameTask, sumStats, taskName, usage,
} from '../page/details.js';
import { sorted } from '../page/overview.js';

// As Serena 2.1.0 answers, shortened.
const overview = {
  web_dashboard_open_on_launch: false,
  active_project: { is_trusted: false, language: 'go', name: 'alpha', path: '/src/alpha' },
  context: { description: 'Generic IDE coding agent context', name: 'ide', path: '/c/ide.yml' },
  modes: [{ description: 'All tools', name: 'editing', path: '/m/editing.yml' }],
  active_tools: ['initial_instructions', 'serena_repl'],
  agent_interface: 'REPL', language_backend: 'LSP', jetbrains_mode: false,
  facades: [{ is_enabled: true, name: 'cfg', methods: [{ is_enabled: true, name: 'open_dashboard' }, { is_enabled: false, name: 'x' }] }],
  tool_stats_summary: {}, registered_projects: [{ is_active: true, name: 'alpha', path: '/src/alpha' }],
  available_tools: [{ is_active: false, name: 'delete_lines' }], available_modes: [], available_contexts: [{ is_active: true, name: 'ide', path: '/c/ide.yml' }],
  available_memories: ['arch/api'], languages: ['go'], encoding: 'utf-8', current_client: null, serena_version: '2.1.0', newer_serena_version: null,
};

test('an overview is read', () => {
  const all = readOverview(overview);
  assert.deepEqual(all.project, { name: 'alpha', path: '/src/alpha', trusted: false });
  assert.equal(all.context.description, 'Generic IDE coding agent context');
  assert.deepEqual(all.facades, [{ name: 'cfg', enabled: true, methods: [{ name: 'open_dashboard', enabled: true }, { name: 'x', enabled: false }] }]);
  assert.equal(all.client, null);
  assert.equal(all.contexts[0].active, true);
  assert.deepEqual(all.memories, ['arch/api']);
});

test('what an older version leaves out is unknown, not empty', () => {
  const { agent_interface: _, language_backend: __, facades: ___, newer_serena_version: ____, ...old } = overview;
  const all = readOverview({ ...old, active_project: { name: 'alpha', path: '/a', language: '' }, available_memories: null });
  assert.equal(all.agentInterface, null);
  assert.equal(all.backend, null);
  assert.equal(all.facades, null);
  assert.equal(all.project.trusted, null);
  assert.equal(all.memories, null);
});

test('foreign shapes are refused or left out, and never thrown at the page', () => {
  for (const answer of [null, 3, 'x', []]) assert.throws(() => readOverview(answer), Unreadable);
  const odd = readOverview({ active_project: 'x', context: null, modes: [null, 3, {}, { name: 'a' }], facades: [null, { name: 'f', methods: 'x' }], languages: [1, 'go'], registered_projects: 'x' });
  assert.deepEqual(odd.modes.map((one) => one.name), ['a']);
  assert.deepEqual(odd.facades, [{ name: 'f', enabled: false, methods: [] }]);
  assert.deepEqual(odd.languages, ['go']);
  assert.equal(odd.projects, null);
  assert.equal(odd.project.name, null);
});

test('an error that comes with status 200 is an error', () => {
  assert.throws(() => refused({ status: 'error', message: 'Memory x not found.' }), { message: 'Memory x not found.' });
  assert.throws(() => refused({ status: 'error' }), Unreadable);
  assert.deepEqual(refused({ status: 'success' }), { status: 'success' });
  assert.throws(() => readQueue({ status: 'error', message: 'no' }), { message: 'no' });
});

const stats = { stats: {
  find_symbol: { input_tokens: 110, num_times_called: 2, output_tokens: 91 },
  list_dir: { input_tokens: 47, num_times_called: 2, output_tokens: 108 },
  read_file: { input_tokens: 8, num_times_called: 10 },
} };

test('tool usage is read, sorted and summed', () => {
  const rows = readStats(stats);
  const order = (key, descending) => sorted(rows, { key, descending }, usage).map((row) => row.tool);
  assert.deepEqual(order('calls', true), ['read_file', 'find_symbol', 'list_dir']);
  assert.deepEqual(order('output', false), ['find_symbol', 'list_dir', 'read_file'], 'unknown last');
  assert.deepEqual(order('tool', true), ['read_file', 'list_dir', 'find_symbol']);
  assert.deepEqual(sumStats(rows), { calls: 14, input: 165, output: 199 });
  assert.deepEqual(sumStats([]), { calls: 0, input: 0, output: 0 });
  assert.deepEqual(sumStats([{ tool: 'a', calls: 1, input: null, output: null }]), { calls: 1, input: null, output: null });
  assert.deepEqual(readStats({ stats: {} }), []);
  assert.throws(() => readStats({}), Unreadable);
});

test('a tool named like a property of objects is a tool', () => {
  const rows = readStats(JSON.parse('{"stats": {"__proto__": {"num_times_called": 1}, "constructor": {"num_times_called": 2}}}'));
  assert.deepEqual(rows.map((row) => [row.tool, row.calls]), [['__proto__', 1], ['constructor', 2]]);
});

test('which tools were called between two answers', () => {
  const before = readStats(stats);
  const after = readStats({ stats: { ...stats.stats, list_dir: { num_times_called: 3 }, new_one: { num_times_called: 1 } } });
  assert.deepEqual(grown(before, after), ['list_dir', 'new_one']);
  assert.deepEqual(grown(after, []), [], 'a reset is no call');
});

test('names of tasks', () => {
  for (const [name, want] of [
    ['Task-22:FindSymbolTool', { number: 22, name: 'FindSymbolTool', background: false }],
    ['BackgroundTask:run', { number: null, name: 'run', background: true }],
    ['Task-1:a:b', { number: 1, name: 'a:b', background: false }],
    ['something else', { number: null, name: 'something else', background: false }],
  ]) assert.deepEqual(taskName(name), want, name);
});

const raw = (id, name, running = false) => ({ finished_successfully: false, is_running: running, logged: true, name, task_id: id });

test('the queue: what runs first, and since when each was seen', () => {
  const read = (...list) => readQueue({ queued_executions: list, status: 'success' });
  const one = mergeQueue([], read(raw(2, 'Task-2:B'), raw(1, 'Task-1:A', true)), 100);
  assert.deepEqual(one.map((task) => [task.id, task.since]), [[1, 100], [2, 100]]);
  const two = mergeQueue(one, read(raw(1, 'Task-1:A', true), raw(2, 'Task-2:B'), raw(3, 'BackgroundTask:run')), 200);
  assert.deepEqual(two.map((task) => [task.id, task.since]), [[1, 100], [2, 100], [3, 200]]);
  const three = mergeQueue(two, read(raw(2, 'Task-2:B', true)), 300);
  assert.deepEqual(three.map((task) => [task.id, task.running, task.since]), [[2, true, 300]], 'running since 300, not waiting since 100');
  assert.deepEqual(readQueue({ queued_executions: [null, {}, { task_id: 'x' }] }), []);
});

test('the last execution', () => {
  assert.deepEqual(readLast({ last_execution: null, status: 'success' }), { task: null });
  const { task } = readLast({ last_execution: raw(7, 'Task-3:X'), status: 'success' });
  assert.equal(task.success, false);
  assert.equal(sameTask(task, { ...task }), true);
  assert.equal(sameTask(task, { ...task, number: 4 }), false, 'an address comes again');
  assert.equal(sameTask(null, task), false);
  assert.equal(sameTask(null, null), true);
  assert.throws(() => readLast({}), Unreadable);
});

test('the small answers', () => {
  assert.equal(readEstimator({ token_count_estimator_name: 'CHAR_COUNT' }), 'CHAR_COUNT');
  assert.equal(readEstimator(null), null);
  assert.equal(readMemory({ content: '', memory_name: 'x' }), '');
  assert.throws(() => readMemory({ memory_name: 'x' }), Unreadable);
  assert.deepEqual(readCancelled({ was_cancelled: true, status: 'success' }), { cancelled: true, message: null });
  assert.deepEqual(readCancelled({ was_cancelled: false, status: 'error', message: 'gone' }), { cancelled: false, message: 'gone' });
});
