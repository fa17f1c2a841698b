// @ts-check
// What the answers of an instance mean. They are foreign: a field may be
// missing, null or of another type, because each version of Serena has its own.
// Pure: nothing here knows the page.

import { Unreadable } from './query.js';

const text = (value) => (typeof value === 'string' && value !== '' ? value : null);
const flag = (value) => (typeof value === 'boolean' ? value : null);
const amount = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const list = (value) => (Array.isArray(value) ? value : []);
const object = (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null);

function demand(value, what) {
  if (value === null || value === undefined) throw new Unreadable(`Its answer holds no ${what}.`);
  return value;
}

// refused throws what Serena says when it answers an error with status 200.
export function refused(answer) {
  if (object(answer)?.status === 'error') throw new Unreadable(text(answer.message) ?? 'It answered with an error and no reason.');
  return answer;
}

// readOverview reads get_config_overview. A list that the version does not know
// is null, an empty one is empty.
export function readOverview(answer) {
  const all = demand(object(refused(answer)), 'configuration');
  const project = object(all.active_project) ?? {};
  const named = (value) => (Array.isArray(value) ? value.map(entry).filter(Boolean) : null);
  const words = (value) => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : null);
  return {
    project: { name: text(project.name), path: text(project.path), trusted: flag(project.is_trusted) },
    context: entry(all.context),
    modes: named(all.modes),
    backend: text(all.language_backend),
    jetbrains: all.jetbrains_mode === true,
    agentInterface: text(all.agent_interface),
    languages: words(all.languages),
    encoding: text(all.encoding),
    client: text(all.current_client),
    version: text(all.serena_version),
    newerVersion: text(all.newer_serena_version),
    activeTools: words(all.active_tools),
    facades: Array.isArray(all.facades) ? all.facades.map(facade).filter(Boolean) : null,
    projects: named(all.registered_projects),
    tools: named(all.available_tools),
    availableModes: named(all.available_modes),
    contexts: named(all.available_contexts),
    memories: words(all.available_memories),
  };
}

function entry(value) {
  const one = object(value);
  const name = text(one?.name);
  return name && { name, description: text(one.description), path: text(one.path), active: one.is_active === true };
}

function facade(value) {
  const one = entry(value);
  const enabled = (item) => item?.is_enabled === true;
  return one && { name: one.name, enabled: enabled(value), methods: list(value.methods).map((method) => ({ name: text(method?.name), enabled: enabled(method) })).filter((method) => method.name) };
}

// readStats reads get_tool_stats into one row per tool.
export function readStats(answer) {
  const stats = demand(object(object(answer)?.stats), 'tool usage');
  return Object.entries(stats).map(([tool, one]) => ({
    tool,
    calls: amount(one?.num_times_called),
    input: amount(one?.input_tokens),
    output: amount(one?.output_tokens),
  }));
}

// sortStats orders rows by a column; what is not known comes last, and equal
// ones stand by name.
export function sortStats(rows, { by, down }) {
  const sign = down ? -1 : 1;
  const byName = (a, b) => (a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : 0);
  if (by === 'tool') return rows.toSorted((a, b) => sign * byName(a, b));
  return rows.toSorted((a, b) => {
    if (a[by] === null || b[by] === null) return Number(a[by] === null) - Number(b[by] === null) || byName(a, b);
    return sign * (a[by] - b[by]) || byName(a, b);
  });
}

// sumStats adds up the columns; a column of which nothing is known is null.
export function sumStats(rows) {
  const sum = (field) => rows.reduce((all, row) => (row[field] === null ? all : (all ?? 0) + row[field]), rows.length ? null : 0);
  return { calls: sum('calls'), input: sum('input'), output: sum('output') };
}

// grown is the names of the tools that were called between two answers.
export function grown(before, after) {
  const calls = new Map(before.map((row) => [row.tool, row.calls ?? 0]));
  return after.filter((row) => (row.calls ?? 0) > (calls.get(row.tool) ?? 0)).map((row) => row.tool);
}

// taskName takes apart what Serena calls a task: "Task-22:FindSymbolTool", or
// "BackgroundTask:…" for what no client has asked for.
export function taskName(name) {
  const task = /^Task-(\d+):(.*)$/s.exec(name);
  if (task) return { number: Number(task[1]), name: task[2], background: false };
  const background = /^BackgroundTask:(.*)$/s.exec(name);
  if (background) return { number: null, name: background[1], background: true };
  return { number: null, name, background: false };
}

function execution(value) {
  const one = object(value);
  if (!one || amount(one.task_id) === null) return null;
  return { id: one.task_id, ...taskName(text(one.name) ?? 'unnamed task'), running: one.is_running === true, success: flag(one.finished_successfully) };
}

// readQueue reads queued_task_executions, in the order of Serena.
export function readQueue(answer) {
  const queue = object(refused(answer))?.queued_executions;
  return demand(Array.isArray(queue) ? queue : null, 'queue').map(execution).filter(Boolean);
}

// mergeQueue puts what runs first, and keeps since when each task was seen
// waiting or running: Serena does not tell. Times are in ms.
export function mergeQueue(before, tasks, now) {
  const known = new Map(before.map((task) => [task.id, task]));
  const merged = tasks.map((task) => {
    const old = known.get(task.id);
    return { ...task, since: old && old.running === task.running ? old.since : now };
  });
  return [...merged.filter((task) => task.running), ...merged.filter((task) => !task.running)];
}

// readLast reads last_execution; {task: null} before the first one.
export function readLast(answer) {
  const all = demand(object(refused(answer)), 'execution');
  if (all.last_execution === undefined) throw new Unreadable('Its answer holds no execution.');
  return { task: execution(all.last_execution) };
}

// sameTask tells whether two executions are one. Serena's ids are addresses,
// which come again, so the number counts too.
export function sameTask(a, b) {
  return a?.id === b?.id && a?.number === b?.number && a?.name === b?.name;
}

export function readEstimator(answer) {
  return text(object(answer)?.token_count_estimator_name);
}

// readMemory is the content of get_memory, which may be empty.
export function readMemory(answer) {
  const content = object(refused(answer))?.content;
  return demand(typeof content === 'string' ? content : null, 'memory');
}

// readCancelled says what became of an order to cancel.
export function readCancelled(answer) {
  return { cancelled: object(answer)?.was_cancelled === true, message: text(answer?.message) };
}
