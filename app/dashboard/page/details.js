// @ts-check
// What the dashboard of an instance shows, asked as rarely as possible: the
// configuration, tool usage, what runs and ran, and the lists.

import { html, signal, useRef } from './preact.js';
import { count, plural } from './format.js';
import { MemoriesFold } from './memories.js';
import { Head, sorted } from './overview.js';
import { Unreadable, answerTo, asked, ordered, queryOf, useQuery } from './query.js';
import { Fold, Section, Time, attempt, confirm, say } from './ui.js';

// The routes only take a lock, so they are cheap, but each request still costs the
// instance a thread. A call shorter than the time between two looks at the queue is
// seen in the last execution alone.
const kinds = {
  overview: { route: 'get_config_overview', read: readOverview, every: 60_000 },
  queue: { route: 'queued_task_executions', read: (answer, before) => mergeQueue(before ?? [], readQueue(answer), Date.now()), every: 3_000 },
  last: { route: 'last_execution', read: (answer, before) => ({ ...readLast(answer), seen: firstSeen(before, readLast(answer).task) }), every: 3_000 },
  stats: { route: 'get_tool_stats', read: readStats },
  estimator: { route: 'get_token_count_estimator_name', read: readEstimator, once: true },
};

// firstSeen is when this page saw a task become the last one, null when it was
// that already at the first look.
function firstSeen(before, task) {
  if (!before || !task) return null;
  return sameTask(before.task, task) ? before.seen : new Date();
}

// useAnswer follows one of the kinds.
export function useAnswer(kind, { instance, ended }, news = '') {
  const { route, read, ...options } = kinds[kind];
  return useQuery(`${kind} ${instance.id}`, async (signal, before) => read(await asked(instance.id, signal, (one) => one.get(route, { signal })), before), { ...options, on: !ended, news });
}

const again = (kind, { id }) => queryOf(`${kind} ${id}`).refresh();

// versionOf names a server's version in a sentence.
export function versionOf(instance, overview) {
  const version = instance.version ?? overview?.version;
  return version ? `Serena ${version}` : 'this version of Serena';
}

export function Details({ found }) {
  const { instance } = found;
  const happened = [instance.state, instance.tool_calls, instance.last_activity, instance.busy].join(' ');
  const identity = [instance.state, instance.project_name, instance.project_root, instance.context, instance.version, instance.dashboard_url].join(' ');
  const last = useAnswer('last', found, happened);
  const done = last.value?.task ? `${last.value.task.id} ${last.value.task.number}` : '';
  const overview = useAnswer('overview', found, identity);
  const stats = useAnswer('stats', found, happened + done);
  const estimator = useAnswer('estimator', found);
  const queue = useAnswer('queue', found, happened);
  const shared = { found, version: versionOf(instance, overview.value) };
  return html`<div class="details">
    <div class="details-left">
      <${Section} title="Current Configuration" kind="configuration" lines=${6} answer=${overview} ...${shared}>${(all) => html`<${Configuration} all=${all} instance=${instance} />`}<//>
      <${Usage} answer=${stats} estimator=${estimator.value} ...${shared} />
      <div class="details-pair">
        <${Section} title="Executions Queue" kind="queue" answer=${queue} ...${shared}>${(tasks) => html`<${Queue} tasks=${tasks} found=${found} />`}<//>
        <${Section} title="Last Execution" kind="execution" answer=${last} ...${shared}>${(value) => html`<${LastExecution} value=${value} instance=${instance} />`}<//></div></div>
    <div class="details-right">
      ${lists.map((list) => html`<${List} key=${list.name} list=${list} answer=${overview} ...${shared} />`)}
      <${MemoriesFold} answer=${overview} ...${shared} /></div></div>`;
}

const Tag = ({ kind = '', title = undefined, children }) => html`<span class=${`tag ${kind && `tag-${kind}`}`} title=${title}>${children}</span>`;
const described = (one) => one && html`<bdi title=${one.path}>${one.name}</bdi>${one.description && html`<span class="muted"> <bdi>${one.description}</bdi></span>`}`;

// Configuration is what the server works on, and how. A wide row has its own line.
function Configuration({ all, instance }) {
  const { name, path, trusted } = all.project;
  const client = all.client && instance.managed ? html`${all.client} <span class="muted">${instance.words.client}</span>` : all.client || instance.words.client;
  const rows = [
    ['Project', name ? html`<strong><bdi>${name}</bdi></strong> ${trusted === false && html`<${Tag} kind="warn">untrusted: some of its settings are ignored, and symbolic links are not followed<//>`} ${path && html`<span class="muted"><bdi>${path}</bdi></span>`}` : 'none is active', true],
    ['Context', described(all.context), true],
    ['Modes', all.modes && (all.modes.length === 0 ? 'none' : html`<ul>${all.modes.map((one) => html`<li>${described(one)}</li>`)}</ul>`), true],
    ['Client', client],
    ['Interface', all.agentInterface === 'REPL' ? html`REPL <${Tag} title="Variables of a session live in its memory: ending the server loses them">keeps variables<//>` : all.agentInterface],
    ['Version', all.version && html`${all.version} ${all.newerVersion && html`<${Tag} kind="warn">${all.newerVersion} is out<//>`}`],
    ['Languages', all.jetbrains ? 'by JetBrains' : all.languages && (all.languages.join(', ') || 'none')],
    ['Encoding', all.encoding], ['Backend', all.backend],
  ];
  return html`<dl class="facts">${rows.map(([label, value, wide]) => html`<div class=${wide ? 'fact fact-wide' : 'fact'} key=${label}><dt>${label}</dt><dd dir="auto">${value || html`<span class="muted">unknown</span>`}</dd></div>`)}</dl>`;
}

// usage is the columns of the table of tool usage.
export const usage = [
  { key: 'tool', title: 'Tool', value: (row) => row.tool },
  ...[['calls', 'Calls'], ['input', 'Input tokens'], ['output', 'Output tokens']].map(([key, title]) => ({ key, title, number: true, value: (row) => row[key] })),
];
const usageSort = signal({ key: 'calls', descending: true });

// Usage is calls and tokens per tool, as bars and as numbers.
function Usage({ answer, found, version, estimator }) {
  const { instance, ended } = found;
  const rows = answer.value;
  const before = useRef(rows);
  const called = before.current && rows ? grown(before.current, rows) : [];
  before.current = rows;
  const reset = async () => {
    const calls = sumStats(rows ?? []).calls;
    const body = `${calls === null ? 'All counts' : `The counts of ${plural(calls, 'call', 'calls')}`} are lost. Serena keeps no copy.`;
    if (!await confirm({ title: `Reset the tool usage of ${instance.label}?`, body, action: 'Reset', danger: true })) return;
    await attempt(async () => {
      await ordered(instance.id, (one) => one.post('clear_tool_stats'));
      say(`The tool usage of ${instance.label} is reset.`, { kind: 'good' });
    }, 'The tool usage was not reset.');
    again('stats', instance);
  };
  const tools = rows?.length > 0 && html`<p class="muted">${estimator && html`Tokens are estimated (<bdi>${estimator}</bdi>). `}Serena does not count failed calls.</p>
    ${!ended && html`<button type="button" class="small quiet" onClick=${reset}>Reset…</button>`}`;
  return html`<${Section} title="Tool Usage" kind="usage" tools=${tools} lines=${3} answer=${answer} found=${found} version=${version}>${(all) => html`<${UsageTable} rows=${all} called=${called} />`}<//>`;
}

function UsageTable({ rows, called }) {
  if (rows.length === 0) return html`<p class="section-empty muted">No call has succeeded yet.</p>`;
  const sum = sumStats(rows);
  const most = (key) => Math.max(1, ...rows.map((row) => row[key] ?? 0));
  return html`<table class="usage-table">
    <thead><tr>${usage.map((column) => html`<${Head} column=${column} sort=${usageSort} />`)}</tr></thead>
    <tbody>${sorted(rows, usageSort.value, usage).map((row) => html`<tr key=${row.tool} class=${called.includes(row.tool) ? 'called' : ''}><th scope="row" dir="auto">${row.tool}</th>
      ${usage.slice(1).map(({ key }) => html`<td class="number bar-cell"><span class=${`bar bar-${key}`} aria-hidden="true" style=${{ '--share': (row[key] ?? 0) / most(key) }}></span><span class="bar-value">${count(row[key])}</span></td>`)}</tr>`)}</tbody>
    <tfoot><tr><th scope="row">All</th>${usage.slice(1).map(({ key }) => html`<td class="number">${count(sum[key])}</td>`)}</tr></tfoot></table>`;
}

const Task = ({ task: { name, background, number } }) => html`<span class="task-label"><span class="task-name" dir="auto" title=${name}>${name}</span> <span class="muted">${background ? 'background task' : number !== null && `task ${number}`}</span></span>`;

// Queue is what runs in the server and what waits.
function Queue({ tasks, found: { instance, ended } }) {
  if (ended || tasks.length === 0) return html`<p class="section-empty muted">${ended ? 'Nothing runs any more.' : 'Nothing runs and nothing waits.'}</p>`;
  return html`<ol class="tasks">${tasks.map((task) => html`<li key=${`${task.id} ${task.number}`} class=${`task ${task.running ? 'running' : ''}`}><span class="task-mark" aria-hidden="true"></span><${Task} task=${task} />
    <span class="task-since muted" title="for as long as this page has seen it">${task.running ? 'running' : 'waiting'} <${Time} at=${task.since} suffix="" /></span>
    <button type="button" class="small quiet danger" aria-label=${`Cancel ${task.name}`} onClick=${() => cancel(instance, task)}>Cancel…</button></li>`)}</ol>`;
}

async function cancel(instance, task) {
  const body = task.running
    ? 'Serena stops waiting for it, and its client gets an error instead of a result. What it has begun may go on until it is done.'
    : 'It will not be started, and its client gets an error instead of a result.';
  if (!await confirm({ title: `Cancel ${task.name}?`, body, action: 'Cancel it', cancel: 'Leave it', danger: true })) return;
  await attempt(async () => {
    const waits = (answerTo(`queue ${instance.id}`).value ?? []).some((one) => sameTask(one, task));
    const answer = waits && readCancelled(await ordered(instance.id, (one) => one.post('cancel_task_execution', { task_id: task.id })));
    if (!answer?.cancelled) return say(`${task.name} was not cancelled: it had finished already.`); // what Serena says then is an error of its own code
    return say(`Serena has cancelled ${task.name}.${answer.message ? ` Serena says: ${answer.message}` : ''}`, { kind: 'good' });
  }, `${task.name} is not cancelled.`);
  for (const kind of ['queue', 'last']) again(kind, instance);
}

// outcomeOf puts a result into words. Serena does not tell a cancelled task apart from
// a failed one.
export function outcomeOf({ success }) {
  if (success === null) return { words: 'Finished', kind: 'plain' };
  return success ? { words: 'Succeeded', kind: 'good' } : { words: 'Failed or cancelled', kind: 'bad' };
}

// LastExecution tells when it ended as far as somebody saw it: this page, or
// lamplighter, whose time is of the last activity. Serena does not tell.
function LastExecution({ value: { task, seen }, instance }) {
  if (!task) return html`<p class="section-empty muted">Nothing was executed yet.</p>`;
  const { words, kind } = outcomeOf(task);
  const when = seen ?? instance.last_activity;
  return html`<p class="last-task"><strong class="outcome" data-kind=${kind}>${words}</strong> <${Task} task=${task} /> ${when && html`<span class="muted"><${Time} at=${when} /></span>`}</p>`;
}

const Names = ({ items }) => html`<ul class="names">${items.map((one) => html`<li key=${one.name} class=${one.active ? 'active' : ''} title=${one.path} dir="auto">${one.name}${one.active && html` <${Tag} kind="active">active<//>`}</li>`)}</ul>`;
const Projects = ({ items }) => html`<ul class="projects">${items.map((one) => html`<li><strong dir="auto">${one.name}</strong>${one.active && html` <${Tag} kind="active">active<//>`}${one.path && html`<span class="muted" dir="auto">${one.path}</span>`}</li>`)}</ul>`;
const Facades = ({ items }) => html`<dl class="facades">${items.map((one) => html`<dt dir="auto">s.${one.name}${!one.enabled && html`<span class="muted"> disabled</span>`}</dt>
  <dd><ul class="names">${one.methods.map((method) => html`<li class=${method.enabled ? '' : 'muted'} dir="auto">${method.name}${!method.enabled && ' (disabled)'}</li>`)}</ul></dd>`)}</dl>`;

// Each list: what it is called, what it holds (null: this version does not say), and
// what to say when it is empty.
const lists = [
  { name: 'projects', title: 'Registered Projects', items: (all) => all.projects, empty: 'No project is registered.', Items: Projects },
  { name: 'active-tools', title: 'Active Tools', items: (all) => all.activeTools?.map((name) => ({ name })) ?? null, empty: 'No tool is active.', Items: Names },
  { name: 'functions', title: 'Active Functions', items: (all) => all.facades?.filter((one) => one.methods.length > 0) ?? null, empty: 'No function is active.', Items: Facades, only: true },
  { name: 'tools', title: 'Available Tools', items: (all) => all.tools, empty: 'All tools are active.', Items: Names, hint: 'They exist, and are not active here.' },
  { name: 'modes', title: 'Available Modes', items: (all) => all.availableModes, empty: 'There are no modes.', Items: Names },
  { name: 'contexts', title: 'Available Contexts', items: (all) => all.contexts, empty: 'There are no contexts.', Items: Names },
];

function List({ list: { name, title, items: of, empty, Items, hint, only }, ...frame }) {
  const items = frame.answer.value ? of(frame.answer.value) : null;
  const number = name === 'functions' ? items?.flatMap((one) => one.methods.filter((method) => method.enabled)).length : items?.length;
  return html`<${Fold} title=${title} name=${name} count=${items ? count(number) : ''} hidden=${only && !items} ...${frame}>${() => {
    if (!items || items.length === 0) return html`<p class="section-empty muted">${items ? empty : `Not offered by ${frame.version}.`}</p>`;
    return html`${hint && html`<p class="fold-hint muted">${hint}</p>`}<${Items} items=${items} />`;
  }}<//>`;
}

// What the answers of an instance mean. They are foreign: a field may be
// missing, null or of another type, because each version of Serena has its own.
// Pure: nothing here knows the page.

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

// readStats reads get_tool_stats into one row per tool, by name.
export function readStats(answer) {
  const stats = demand(object(object(answer)?.stats), 'tool usage');
  return Object.entries(stats).sort(([a], [b]) => (a < b ? -1 : 1)).map(([tool, one]) => ({
    tool,
    calls: amount(one?.num_times_called),
    input: amount(one?.input_tokens),
    output: amount(one?.output_tokens),
  }));
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
