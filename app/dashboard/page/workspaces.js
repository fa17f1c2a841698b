// @ts-check
// The workspaces: those that there are, those that are being made, and the
// worktrees that others have left behind.

import { html, signal, useEffect, useRef, useState } from './preact.js';
import { absolute, count, ended, plural, sentence, size } from './format.js';
import { Failure, get, send } from './http.js';
import { useKey } from './keys.js';
import { useQuery } from './query.js';
import { Icon, Mark, Skeleton, Time, announce, attempt, confirm, copy, prompt, say, tell } from './ui.js';
import { changesWords, diffLines, found, kindOf, losses, markOf, matching, offers, progressWords, removed, sorted, source, stateOf, summary, traits, verdict, whats } from './workspacewords.js';

const every = 2_000; // ms between two looks
const long = 600_000; // ms: what is large takes its time
const mostShown = 200; // files of a comparison

const opened = signal(/** @type {Set<string>} */ (new Set())); // ids of those that are open
const example = 'lamplighter workspace create --kind temp --from . --job NAME';
const list = (value) => (Array.isArray(value) ? value : []);

async function ask(abort, before) {
  const answer = await get('/workspaces', { signal: abort });
  const next = { workspaces: list(answer?.workspaces), making: list(answer?.making), problem: answer?.problem ?? '' };
  const ready = before ? next.workspaces.filter((one) => before.making.some((made) => made.id === one.id) && !next.making.some((made) => made.id === one.id)) : [];
  if (ready.length === 1) announce(`The workspace for ${ready[0].job} is ready`);
  else if (ready.length > 1) announce(`${plural(ready.length, 'workspace is', 'workspaces are')} ready`);
  return next;
}

export function Workspaces() {
  const { value, trouble } = useQuery('workspaces', ask, { every });
  const [text, setText] = useState('');
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useKey('/', 'This view', 'filter the workspaces', () => field.current?.select());
  const { workspaces, making, problem } = value ?? { workspaces: [], making: [], problem: '' };
  const matches = sorted(matching(workspaces, text));
  const wrong = trouble ? `${sentence(trouble.text)}${value ? ' What is shown is from before.' : ''}` : problem && sentence(problem);
  return html`<div class=${`workspaces ${trouble && value ? 'old' : ''}`}>
    <div class="line setup-head"><h2 id="view-title" tabindex="-1">Workspaces</h2><p class="muted">${value && summary(workspaces, making)}</p><span class="grow"></span>
      ${workspaces.length > 0 && html`<input ref=${field} type="search" aria-label="Filter workspaces" placeholder="Filter workspaces" autocomplete="off" spellcheck=${false} dir="auto" value=${text} onInput=${(event) => setText(event.currentTarget.value)} />`}</div>
    <p class="about muted">A directory of its own for each job, taken away in time. Work that is nowhere else is not lost unless you say so.</p>
    ${wrong && html`<p class="problem" role="alert" dir="auto">${wrong}</p>`}
    ${!value && !trouble && html`<div class="card padded"><p class="unseen">Looking for workspaces</p><${Skeleton} lines=${4} /></div>`}
    ${making.length > 0 && html`<ul class="card workspace-makings" aria-label="Being worked on">${making.map((one) => html`<${Making} key=${one.id} one=${one} />`)}</ul>`}
    ${matches.length > 0 && html`<ul class="card rows" aria-label="Workspaces">${matches.map((one) => html`<${Workspace} key=${one.id} one=${one} />`)}</ul>`}
    ${workspaces.length > 0 && matches.length === 0 && html`<p class="nothing" role="status">No workspace matches “${text.trim()}”.</p>`}
    ${value && workspaces.length === 0 && making.length === 0 && html`<div class="empty"><img src="assets/lantern.svg" alt="" width="56" height="56" /><h3>No workspaces yet</h3>
      <p>Give a job a directory of its own, in a terminal:</p><div class="command"><code>${example}</code></div><p class="muted">It appears here while it is made, and goes when its job ends.</p></div>`}
    <${Scan} /></div>`;
}

function Making({ one: { job, name, progress } }) {
  return html`<li><strong class="cut" dir="auto" title=${name}>${job || name}</strong><progress max="100" value=${progress?.percent ?? undefined} aria-label=${`Progress of ${job || name}`}></progress><span class="muted">${progressWords(progress ?? {})}</span></li>`;
}

function Workspace({ one }) {
  const is = opened.value.has(one.id);
  const open = () => {
    const next = new Set(opened.value);
    if (is) next.delete(one.id);
    else next.add(one.id);
    opened.value = next;
  };
  const path = one.state === 'archived' ? one.archive?.path ?? one.path : one.path;
  return html`<li class="workspace" data-state=${one.problem ? 'problem' : one.state}>
    <div class="workspace-line"><${Mark} kind=${markOf(one)} /><span class="workspace-state">${stateOf(one)}</span>
      <button type="button" class="workspace-job quiet" aria-expanded=${String(is)} onClick=${open}><${Icon} name="down" /><span class="cut" dir="auto" title=${one.job}>${one.job}</span></button>
      <span class="cut" dir="auto" title=${one.project}>${one.project}</span><span class="tag">${kindOf(one)}</span>
      <span class="number" title=${one.measured_at ? `${count(one.files)} files, measured ${absolute(one.measured_at)}` : 'Not measured yet'}>${size(one.size_bytes)}</span>
      <span class="number"><span class="unseen">made </span><${Time} at=${one.created_at} suffix="" /><span class="unseen"> ago</span></span>
      <span class="workspace-next" dir="auto">${one.ends_at ? html`${one.ends}, <${Time} at=${one.ends_at} suffix="ahead" />` : one.ends}</span></div>
    <div class="workspace-where"><span class="mono cut" dir="ltr" title=${path}>${path}</span>
      <button type="button" class="quiet icon small" title="Copy the path" aria-label=${`Copy the path of ${one.job}`} onClick=${() => copy(path)}><${Icon} name="copy" /></button></div>
    ${one.problem && html`<p class="problem" dir="auto">${sentence(one.problem)}</p>`}
    ${is && html`<${Details} one=${one} />`}</li>`;
}

// Details are the facts of a workspace, its versions, and what can be done to it.
function Details({ one }) {
  const [working, setWorking] = useState(false);
  const offered = offers(one);
  const { value, trouble } = useQuery(`workspace ${one.id}`, (abort) => get(`/workspaces/${encodeURIComponent(one.id)}`, { signal: abort }), { on: offered.versions, news: `${one.version_count} ${one.state} ${one.used_at}` });
  const run = async (does) => {
    if (working) return;
    setWorking(true);
    await does();
    setWorking(false);
  };
  const button = (words, about, does, kind = '') => html`<button type="button" class=${`small ${kind}`} aria-disabled=${String(working)} onClick=${() => run(does)}>${words}<span class="unseen" dir="auto"> ${about}</span></button>`;
  const versions = value?.versions ?? [];
  const time = (at) => at && html`<${Time} at=${at} />`;
  const facts = [
    ['Directory', one.path], ['Archive', one.archive && `${one.archive.path}, ${size(one.archive.bytes)}`], ['Made from', source(one)], ['Branch', one.source?.branch],
    ['Shared, read-only', one.shares?.map((share) => share.from).join(', ')], ['Server', one.server?.mcp_url], ['Made', time(one.created_at)], ['Last used', time(one.used_at)],
    ['Job ended', time(one.completed_at)], ['Id', one.id],
  ].filter(([, fact]) => fact);
  return html`<div class="workspace-details">
    <dl class="facts">${facts.map(([name, fact]) => html`<div class="fact fact-wide"><dt>${name}</dt><dd dir="auto">${fact}</dd></div>`)}</dl>
    ${offered.versions && html`<div><h3>Versions</h3>
      ${trouble && html`<p class="problem" dir="auto">${sentence(trouble.text)}</p>`}
      ${value && versions.length === 0 && html`<p class="muted">None yet. Keep one, and it can be compared and restored.</p>`}
      <ul class="workspace-versions">${versions.toReversed().map((version, i) => {
        const before = versions[versions.length - 2 - i];
        return html`<li key=${version.version}><strong>${version.version}</strong> <span dir="auto">${version.message}</span> <span class="muted">${count(version.files)} files, ${size(version.size_bytes)}, <${Time} at=${version.at} /></span>
          ${one.state === 'ready' && button('What changed since…', `version ${version.version}`, () => compare(one, version.version))}
          ${before && button(`Since ${before.version}…`, `to version ${version.version}`, () => compare(one, before.version, version.version))}
          ${one.state !== 'archived' && button('Put back…', `version ${version.version}`, () => restore(one, version))}</li>`;
      })}</ul></div>`}
    <p class="line">${offered.keep && button('Keep a version…', one.job, () => keep(one))}${offered.restore && button('Restore…', one.job, () => restore(one))}
      ${offered.archive && button('Archive…', one.job, () => archive(one))}<span class="grow"></span>${button('Remove…', one.job, () => remove(one), 'danger')}</p></div>`;
}

const pathOf = (one, rest = '') => `/workspaces/${encodeURIComponent(one.id)}${rest}`;
const nameOf = (one) => one.job || one.name || one.path;
const PathLine = ({ path }) => html`<p class="mono path" dir="ltr">${path}</p>`;

async function keep(one) {
  const message = await prompt({ title: `Keep a version of ${nameOf(one)}`, label: 'What is it, in a few words?', action: 'Keep', check: (text) => (text.trim() === '' ? 'Say in a few words what this version is.' : '') });
  return message !== null && attempt(async () => {
    const version = await send('POST', pathOf(one, '/keep'), { message: message.trim() }, { limit: long });
    say(`Kept as version ${version.version}: ${nameOf(one)}.`, { kind: 'good' });
  });
}

async function archive(one) {
  const body = html`<div><p>All of it, with its versions, is packed into one file, and its directory goes. It can be restored from there.</p><${PathLine} path=${one.path} /></div>`;
  return await confirm({ title: `Archive ${nameOf(one)}?`, body, action: 'Archive' }) && attempt(async () => {
    const now = await send('POST', pathOf(one, '/archive'), {}, { limit: long });
    say(`Archived: ${nameOf(one)}.${now.archive ? ` ${size(now.archive.bytes)} in ${now.archive.path}` : ''}`, { kind: 'good' });
  });
}

// restore brings an archived one back, or puts a version into its directory.
async function restore(one, version = null) {
  const body = version
    ? html`<div><p dir="auto">Version ${version.version}: ${version.message}</p><p>Its directory gets the content of that version. What is there now is kept as a version before, if it differs from the last one.</p></div>`
    : html`<div><p>It is unpacked to where it was.</p><${PathLine} path=${one.path} /></div>`;
  return await confirm({ title: version ? `Put version ${version.version} of ${nameOf(one)} back?` : `Restore ${nameOf(one)}?`, body, action: 'Restore' }) && attempt(async () => {
    await send('POST', pathOf(one, '/restore'), version ? { version: version.version } : {}, { limit: long });
    say(version ? `Version ${version.version} is back: ${nameOf(one)}.` : `Restored: ${nameOf(one)}.`, { kind: 'good' });
  });
}

const remove = (one) => removal({ name: nameOf(one), path: one.path, versions: one.version_count ?? 0, ask: (query) => send('DELETE', pathOf(one, query), undefined, { limit: long }) });

// removeWorktree takes a worktree away that a scan has found.
const removeWorktree = (one) => removal({
  name: one.branch || one.path, path: one.path, versions: 0,
  ask: (query) => send('POST', '/workspaces/scan/remove', { path: one.path, force: query.includes('force=true'), dry_run: query.includes('dry_run=true') }, { limit: long }),
});

// outcome is what is answered, also where something prevents it.
async function outcome(asked) {
  try {
    return await asked;
  } catch (error) {
    const answer = error instanceof Failure && error.status === 409 ? error.answer : null;
    if (answer?.what === undefined) throw error;
    return { ...answer, why: answer.why || answer.error };
  }
}

// removal shows what would be lost before anything is removed.
async function removal({ name, path, versions, ask: order }) {
  announce(`Looking what would be lost with ${name}`);
  let done = false;
  await attempt(async () => {
    const usual = await outcome(order('?dry_run=true'));
    const forced = usual.why ? await outcome(order('?dry_run=true&force=true')) : null;
    const { kind, why } = verdict(usual, forced);
    if (kind === 'refused') {
      await tell({ title: `${name} cannot be removed now`, body: html`<${Refused} users=${(forced ?? usual).in_use ?? []} why=${why} path=${path} />`, kind: 'dialog-wide' });
      return;
    }
    const loses = kind === 'loss';
    if (!await confirm({ title: `Remove ${name}?`, body: html`<${Removal} ...${{ result: usual, path, versions, loses }} />`, action: loses ? 'Remove all the same…' : 'Remove', danger: true })) return;
    const lost = html`<div><p class="loss" dir="auto">${sentence(losses(usual.loss).words || 'work that is nowhere else')}</p><p>Nobody can bring it back.${usual.kept && ` What stays: ${ended(usual.kept)}`}</p></div>`;
    if (loses && !await confirm({ title: `Lose this work of ${name}?`, body: lost, action: 'Remove and lose it', danger: true, cancel: 'Keep it' })) return;
    const { text, kind: told } = removed(await outcome(order(loses ? '?force=true' : '')), name);
    say(text, { kind: told });
    done = told === 'good';
  });
  return done;
}

function Removal({ result, path, versions, loses }) {
  const { words, lines } = losses(result.loss);
  return html`<div><${PathLine} path=${path} />
    ${!loses ? html`<p>Nothing would be lost that is not elsewhere or temporary.</p>` : html`<p class="loss" dir="auto">Would be lost: ${ended(words || 'work that is nowhere else')}</p>
      ${lines.length > 0 && html`<ul class="workspace-losses" tabindex="0" aria-label="What would be lost">${lines.map(({ what, text }) => html`<li>${what && html`<span class="muted">${what} </span>`}<span class="mono" dir="auto">${text}</span></li>`)}</ul>`}`}
    ${versions > 0 && html`<p class="loss">Its ${versions === 1 ? 'version goes' : `${versions} versions go`} with it.</p>`}
    ${result.freed_bytes > 0 && html`<p>${size(result.freed_bytes)} would be freed.</p>`}
    ${result.kept && html`<p dir="auto">What stays: ${ended(result.kept)}</p>`}</div>`;
}

const Refused = ({ users, why, path }) => html`<div><${PathLine} path=${path} />${users.length === 0 ? html`<p dir="auto">${sentence(why)}</p>`
  : html`<p>Somebody works inside. End that first.</p><ul class="evidence" dir="auto">${users.map(({ pid, name, how }) => html`<li>${name || 'a process'} (process ${pid}) ${how}</li>`)}</ul>`}</div>`;

// compare shows what differs from one version to another, 0 for the tree.
function compare(one, from, to = 0) {
  return attempt(async () => {
    const diff = await get(pathOf(one, `/diff?from=${from}&to=${to}`), { limit: long });
    const changes = diff?.changes ?? [];
    const title = to === 0 ? `What changed in ${nameOf(one)} since version ${from}` : `What changed in ${nameOf(one)} from version ${from} to ${to}`;
    await tell({ title, kind: 'dialog-wide', body: html`<div><p>${changesWords(changes)}</p>
      ${changes.slice(0, mostShown).map((change) => html`<details class="workspace-change" open=${changes.length <= 3}><summary>${whats[change.what] ?? change.what} <span class="mono" dir="auto">${change.path}</span></summary>
        ${change.diff ? html`<pre class="workspace-diff" tabindex="0" aria-label=${`Changes of ${change.path}`} role="region">${diffLines(change.diff).map(({ kind, line }) => html`<span class=${kind && `diff-${kind}`}>${line}</span>${'\n'}`)}</pre>` : html`<p class="muted">Not shown as text.</p>`}</details>`)}
      ${changes.length > mostShown && html`<p class="muted">and ${changes.length - mostShown} more</p>`}
      ${diff?.left_out > 0 && html`<p class="muted">${diff.left_out} texts are left out, because all of them are too long. lamplighter workspace diff shows them.</p>`}</div>` });
  });
}

// Scan finds worktrees that somebody has left behind in a directory, when one asks.
function Scan() {
  const [dir, setDir] = useState('');
  const [wrong, setWrong] = useState('');
  const [result, setResult] = useState(/** @type {{worktrees: any[], problems: string[]} | null} */ (null));
  const [words, setWords] = useState('');
  const control = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => control.current?.abort(), []);
  const show = (worktrees, problems) => {
    setResult({ worktrees, problems });
    setWords(found({ worktrees }));
  };
  const scan = async (event) => {
    event.preventDefault();
    if (control.current) return control.current.abort();
    setWrong(dir.trim() ? '' : 'Type the path of a directory, such as /home/me/src.');
    if (!dir.trim()) return undefined;
    const mine = control.current = new AbortController();
    setWords(`Looking at ${dir.trim()}…`);
    try {
      const answer = await send('POST', '/workspaces/scan', { dirs: [dir.trim()] }, { limit: long, signal: mine.signal });
      show(answer?.worktrees ?? [], answer?.problems ?? []);
    } catch (error) {
      setWords(error.name === 'AbortError' ? 'The scan was ended.' : '');
      if (error instanceof Failure) setWrong(sentence(error.message));
    }
    control.current = null;
    return undefined;
  };
  const away = async (one) => {
    if (await removeWorktree(one) && result) show(result.worktrees.filter((other) => other.path !== one.path), result.problems);
  };
  return html`<details class="card fold"><summary><h2>Stale worktrees</h2></summary><div class="section-body">
    <p class="muted">Assistants leave git worktrees behind. Name a directory, and all of its repositories and those below it are looked at. Nothing is changed by that.</p>
    <form class="scan-form" onSubmit=${scan}><label for="scan-directory">Directory</label><input id="scan-directory" type="text" autocomplete="off" spellcheck=${false} dir="ltr" placeholder="/home/me/src" aria-invalid=${wrong ? 'true' : undefined} value=${dir} onInput=${(event) => setDir(event.currentTarget.value)} />
      <button type="submit" class="small">${control.current ? 'Stop' : 'Scan'}</button></form>
    ${wrong && html`<p class="problem" role="alert" dir="auto">${wrong}</p>`}<p role="status">${words}</p>
    ${result && html`<ul class="muted">${result.problems.map((text) => html`<li dir="auto">${text}</li>`)}</ul>
      <ul class="scan-list rows" aria-label="Worktrees">${result.worktrees.map((one) => html`<li key=${one.path}><div><${PathLine} path=${one.path} /><p class="muted" dir="auto">${one.project}: ${traits(one).join(', ')}, last used <${Time} at=${one.used_at} /></p>
        <p dir="auto">${sentence(one.removable ? `can be removed: ${one.why}` : one.why)}</p></div>
        <button type="button" class="small danger" onClick=${() => away(one)}>Remove…<span class="unseen" dir="ltr"> ${one.path}</span></button></li>`)}</ul>`}</div></details>`;
}
