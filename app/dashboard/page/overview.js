// @ts-check
// The overview: a table of all instances, with what can be done to them, and below
// it how their memory went, the policies and what happened.

import { html, computed, signal, useEffect, useLayoutEffect, useMemo, useRef } from './preact.js';
import { Actions, hideChild, nameChild, stop } from './actions.js';
import { EventList } from './events.js';
import { bytes, count, head, isNumber, middle, percent, phrase, plural, sentence, totals, unknown } from './format.js';
import { filter } from './header.js';
import { MemoryOfAll } from './history.js';
import { useKey } from './keys.js';
import { Policies } from './policies.js';
import { link } from './router.js';
import { children, find, givenUp, gone, loaded, pending, repeated, servers, status, trouble } from './store.js';
import { Fold, Guard, Label, Mark, Time, Unseen, copy, now, stored, useNear } from './ui.js';
import { Welcome } from './welcome.js';

const many = 12; // servers; beyond, they are grouped unless somebody chose otherwise
const atFirst = 40; // rows that are drawn whole before it is known which are seen
const nameLength = 48; // characters; beyond, the middle is left out
const example = 'serena start-mcp-server --transport streamable-http';

const selected = signal(/** @type {Set<string>} */ (new Set()));
const held = signal(false); // the pointer is over the rows
let last = /** @type {string | null} */ (null); // where a range begins

export function Overview() {
  const none = servers.value.length === 0;
  return html`<div class="overview">
    <${Welcome} />
    ${none ? loaded.value ? html`<${Empty} />` : html`<p class="nothing waiting">${trouble.value ? sentence(trouble.value) : 'Looking for servers'}</p>` : html`<${Servers} />`}
    ${givenUp.value && html`<${GivenUp} />`}
    ${repeated.value.length > 0 && html`<${AllRepeated} />`}
    ${children.value.length > 0 && html`<${Children} />`}
    ${loaded.value && html`<div class="folds">${!none && html`<${MemoryOfAll} />`}<${Guard} of=${status.value}><${Policies} /><//><${Fold} title="Events" name="all-events"><${EventList} /><//></div>`}
  </div>`;
}

// GivenUp are the servers that are dead to everybody, in one line.
const GivenUp = () => html`<p class="muted given-up"><span dir="auto">${givenUp.value.words}</span>
  <button type="button" class="small quiet danger" onClick=${() => stop(givenUp.peek().ids.map((id) => find(id)?.instance).filter(Boolean))}>Stop…<${Unseen}> ${givenUp.value.words}<//></button></p>`;

// AllRepeated are the servers that one client has started several times.
const AllRepeated = () => html`<ul class="children" aria-label="Started several times">${repeated.value.map(({ words, ids, keep }) => html`<li key=${ids.join()} class="muted"><span dir="auto">${words}</span>
  ${keep && html` <button type="button" class="small quiet danger" onClick=${() => stop(servers.peek().filter((one) => ids.includes(one.id) && one.id !== keep))}>Stop the others…<${Unseen}> ${words}<//></button>`}</li>`)}</ul>`;

// Children are what clients talk to over pipes, and nobody knows for servers.
const Children = () => html`<ul class="children" aria-label="Unsure">${children.value.map(({ client, words, list }) => html`<li key=${client.pid} class="muted"><span dir="auto">${words}</span>
  <ul>${list.map((one) => html`<li key=${one.id}><span dir="auto">${one.name} (${one.pid})</span> <button type="button" class="small quiet" onClick=${() => nameChild(one)}>Name…<${Unseen}> ${one.name}<//></button><button type="button" class="small quiet" onClick=${() => hideChild(one)}>Hide…<${Unseen}> ${one.name}<//></button></li>`)}</ul></li>`)}</ul>`;

// Empty says how to get a server while there is none.
const Empty = () => html`<div class="empty">
  <img src="assets/lantern.svg" alt="" width="56" height="56" /><h2>No servers yet</h2>
  <p>Start your assistant and its servers appear here by themselves, or start one in a terminal:</p>
  <div class="command"><code>${example}</code><button type="button" class="small" onClick=${() => copy(example)}>Copy</button></div>
  <p class="muted">Lamplighter knows Serena best, every other MCP server by the name that your assistant's settings give it, and the rest by a rule in its own.</p></div>`;

function Servers() {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const before = useRef(/** @type {string[]} */ ([]));
  const all = servers.value;
  // Below a pointer that rests no row moves: one that has ended keeps its place.
  const hold = held.value && before.current.length > 0;
  const over = hold ? gone.value.map((one) => one.instance).filter((one) => before.current.includes(one.id)) : [];
  const byId = new Map([...over, ...all].map((one) => [one.id, one]));
  const order = arrange(before.current, sorted(all, sort.value).map((one) => one.id), over.map((one) => one.id), hold);
  useLayoutEffect(() => { before.current = order; });
  useEffect(() => () => { held.value = false; }, []); // what is taken away is not left
  const wanted = parts(filter.value);
  const groups = grouped(order.map((id) => byId.get(id)).filter((one) => matches(one, wanted)), grouping.value);
  const found = groups.flatMap((group) => group.list).filter((one) => !over.includes(one));
  const ids = found.map((one) => one.id);
  const early = new Set(ids.slice(0, atFirst));

  const choose = (id, on, extend = false) => {
    const next = new Set(selected.value);
    for (const one of id === null ? ids : extend && last !== null ? range(ids, last, id) : [id]) {
      if (on) next.add(one);
      else next.delete(one);
    }
    last = id;
    selected.value = next;
  };
  const picked = all.filter((one) => selected.value.has(one.id));
  useEffect(() => { if (picked.length < selected.value.size) selected.value = new Set(picked.map((one) => one.id)); });

  const links = () => /** @type {HTMLElement[]} */ ([...box.current?.querySelectorAll('a.server') ?? []]);
  const step = (by) => {
    const at = links().indexOf(/** @type {HTMLElement} */ (document.activeElement));
    (links()[at < 0 ? (by > 0 ? 0 : ids.length - 1) : at + by])?.focus();
  };
  useKey('j', 'Servers', 'next server of the table', () => step(1));
  useKey('k', 'Servers', 'previous server of the table', () => step(-1));
  useKey('x', 'Servers', 'select the server that has the focus', () => {
    const id = document.activeElement?.closest('tr')?.dataset.id;
    if (id) choose(id, !selected.value.has(id));
  });

  // Whoever worked on a row that has gone goes on with the one in its place.
  const worked = useRef(-1);
  const focused = (event) => { worked.current = ids.indexOf(event.target.closest('tr')?.dataset.id); };
  const left = ({ target }) => setTimeout(() => { if (target.isConnected && document.activeElement === document.body) worked.current = -1; });
  useLayoutEffect(() => {
    if (worked.current >= 0 && document.activeElement === document.body) links()[Math.min(worked.current, ids.length - 1)]?.focus();
  }, [ids.join()]);

  const on = ids.filter((id) => selected.value.has(id)).length;
  const unlisted = picked.length - on;
  return html`<div class="toolbar">
      <p aria-live="polite">${found.length < all.length && `${count(found.length)} of ${plural(all.length, 'server', 'servers')}`}</p>
      ${filter.value && found.length > 0 && html`<button type="button" class="small quiet" onClick=${() => { filter.value = ''; }}>Clear the filter</button>`}
      <span class="grow"></span>
      ${picked.length > 0 && html`<span role="status">${count(picked.length)} selected, ${unlisted > 0 ? `${count(unlisted)} of them not listed` : bytes(totals(picked).rss)}</span>
        <button type="button" class="small quiet" onClick=${() => { selected.value = new Set(); }}>Select none</button>
        <button type="button" class="small danger outlined" onClick=${() => stop(picked)}>Stop selected…</button>`}
      <select class="sort-menu" aria-label="Sort by" value=${sort.value?.key ?? ''} onChange=${({ currentTarget: { value } }) => { sort.value = value ? turned(null, columns.find((one) => one.key === value)) : null; }}>
        <option value="">Attention first, then name</option>${columns.map((one) => html`<option value=${one.key}>By ${one.title.toLowerCase().replace('cpu', 'CPU')}</option>`)}</select>
      ${(all.length > many || choice.value) && html`<select aria-label="Group the servers" value=${grouping.value} onChange=${(event) => { choice.value = event.currentTarget.value; }}>
        ${Object.entries(groupings).map(([key, words]) => html`<option value=${key}>${words}</option>`)}</select>`}
    </div>
    ${found.length === 0 ? html`<p class="nothing"><span dir="auto">No server matches “${filter.value.trim()}”.</span>${' '}
        <button type="button" class="small" onClick=${() => { filter.value = ''; }}>Clear the filter</button></p>` : html`
    <div class="card table-box" ref=${box} onFocusIn=${focused} onFocusOut=${left}>
    <table class="servers" role="table" aria-label="Servers">
      <thead role="rowgroup"><tr role="row">
        <th scope="col" role="columnheader" class="choose"><input type="checkbox" aria-label="Select all servers listed" checked=${on === ids.length} indeterminate=${on > 0 && on < ids.length} onChange=${(event) => choose(null, event.currentTarget.checked)} /></th>
        ${columns.map((one) => html`<${Head} key=${one.key} column=${one} sort=${sort} />`)}
        <th scope="col" role="columnheader" class="actions-head"><span class="unseen">Actions</span></th></tr></thead>
      ${groups.map(({ name, list }) => pieces(list).map((part, i) => html`<tbody key=${`${i} ${name}`} role="rowgroup" style=${{ '--rows': part.length }} onPointerEnter=${(event) => { held.value = event.pointerType === 'mouse'; }} onPointerLeave=${() => { held.value = false; }}>
        ${name && i === 0 && html`<tr role="row" class="group"><th role="rowheader" colspan="13" dir="auto">${middle(name, nameLength)}: ${head(list)}</th></tr>`}
        ${part.map((one) => html`<${Row} key=${one.id} instance=${one} ended=${over.includes(one)} ending=${pending.value.get(one.id) ?? ''} chosen=${selected.value.has(one.id)} choose=${choose} first=${early.has(one.id)} />`)}</tbody>`))}
      <${Foot} found=${found} all=${all} />
    </table></div>`}`;
}

// pieces are those of a long list. One that is not seen needs no layout.
const pieceLength = 25;
const pieces = (list) => (list.length <= 4 * pieceLength ? [list] : Array.from({ length: Math.ceil(list.length / pieceLength) }, (_, i) => list.slice(i * pieceLength, (i + 1) * pieceLength)));

// Head is that of a column by which a table is sorted; sort is a signal.
export function Head({ column, sort }) {
  const is = sort.value?.key === column.key ? sort.value : null;
  return html`<th scope="col" role="columnheader" class=${`head-${column.key} ${column.number ? 'number' : ''}`} aria-sort=${is ? (is.descending ? 'descending' : 'ascending') : undefined}>
    <button type="button" class="sort" title=${column.hint} onClick=${() => { sort.value = turned(sort.value, column); }}><span class="cut">${column.title}</span><span class="arrow" aria-hidden="true">${is ? (is.descending ? '↓' : '↑') : ''}</span></button></th>`;
}

// Row is drawn anew only when its server is another, or what was ordered for it. One
// that is far from what is seen is a name alone.
function Row({ instance, ended, ending, chosen, choose, first }) {
  const node = useRef(null);
  const newest = useRef(choose);
  newest.current = choose;
  const near = useNear(node, first) && !ended;
  return useMemo(() => html`<tr ref=${node} role="row" data-id=${instance.id} data-state=${ended ? 'ended' : instance.state} class=${chosen ? 'chosen' : ''}>
    ${near ? html`<${Cells} ...${{ instance, ending, chosen, choose: newest }} />` : html`<td role="cell" class="choose"></td><td role="cell" class="cell-state">${ended && html`<span class="state"><${Mark} kind="ended" /><span>ended</span></span>`}</td><${Name} instance=${instance} />`}</tr>`, [instance, ended, ending, chosen, near]);
}

const Name = ({ instance }) => html`<td role="rowheader" class="cell-server"><a class="server" href=${link(instance)} title=${[instance.label, instance.project_root].filter(Boolean).join('\n')}><${Label} instance=${instance} most=${nameLength} /></a>${instance.words.apart && html` <span class="muted" dir="auto">${instance.words.apart}</span>`}</td>`;

function Cells({ instance, ending, chosen, choose }) {
  const { id, label, state, words } = instance;
  const cell = (column, children, title = undefined) => html`<td role="cell" class=${`cell-${column.key} ${column.number ? 'number' : ''} ${children === unknown ? 'unknown' : ''}`} title=${title} dir="auto">${children}</td>`;
  const cells = {
    state: (column) => cell(column, html`<span class="state"><${Mark} kind=${state} /><span>${words.state}</span></span>`, instance.reason ?? undefined),
    server: () => html`<${Name} instance=${instance} />`,
    idle: (column) => cell(column, instance.busy && state !== 'zombie' ? 'busy' : idles(instance) ? html`<${Time} at=${instance.idle_from} suffix="" />` : unknown),
    next: () => html`<td role="cell" class="cell-next" dir="auto" data-kind=${ending || instance.shutdown_at ? 'soon' : 'plain'}><${Next} instance=${instance} ending=${ending} /></td>`,
  };
  return html`<td role="cell" class="choose"><input type="checkbox" checked=${chosen} aria-label=${`Select ${label}`} onClick=${(event) => choose.current(id, event.currentTarget.checked, event.shiftKey)} /></td>
    ${columns.map((column) => (cells[column.key] ?? ((one) => cell(one, one.text(instance), one.number ? undefined : one.text(instance))))(column))}
    <td role="cell" class="cell-actions"><${Actions} instance=${instance} compact /></td>`;
}

// Next says what will become of a server, and of a red one why it is so.
function Next({ instance: { state, reason, words }, ending }) {
  const text = ending || (words.next ? phrase(words.next, now.value) : state === 'zombie' ? reason ?? '' : '');
  return html`<span title=${text}>${text}</span>`;
}

// Foot sums up what is listed.
function Foot({ found, all }) {
  const sum = totals(found);
  const texts = { memory: bytes(sum.rss), cpu: percent(sum.cpu), calls: count(sum.calls) };
  return html`<tfoot role="rowgroup"><tr role="row"><td role="cell" colspan="3" class="foot-label">${found.length === all.length ? 'Total' : 'Total of those listed'}</td>
    ${columns.slice(2).map((one) => html`<td role="cell" class=${`cell-${one.key} ${one.number ? 'number' : ''}`}>${texts[one.key] ?? ''}</td>`)}<td role="cell"></td></tr></tfoot>`;
}

// The rows of a table, and the servers as data: what the columns of their table hold, how they are filtered,
// sorted, grouped, and kept in their places. Pure.

const severity = { zombie: 0, live_no_project: 1, starting: 2, live_with_project: 3, live: 3, parked: 4 };

// columns in their order. value is what they sort by; unknown is null and comes
// last either way. Numbers begin with the largest.
export const columns = [
  { key: 'state', title: 'State', value: (one) => severity[one.state] ?? 5, text: (one) => one.words.state },
  { key: 'server', title: 'Server', value: (one) => (one.project_name || one.label).toLowerCase(), text: (one) => [one.label, one.words.apart].filter(Boolean).join(' · ') },
  { key: 'client', title: 'Client', value: (one) => one.words.client.toLowerCase() || null, text: (one) => one.words.client || unknown },
  { key: 'context', title: 'Context', value: (one) => one.context?.toLowerCase() || null, text: (one) => one.context || unknown },
  { key: 'memory', title: 'Memory', number: true, value: (one) => one.rss_bytes, text: (one) => bytes(one.rss_bytes) },
  { key: 'cpu', title: 'CPU', number: true, value: (one) => one.cpu_percent, text: (one) => percent(one.cpu_percent), hint: 'Of one core, the whole tree' },
  { key: 'idle', title: 'Idle', number: true, value: (one) => (idles(one) ? -Date.parse(one.idle_from) : one.busy ? -Infinity : null), text: null, hint: 'Since its last tool call, or since it started' },
  { key: 'next', title: 'What happens next', value: (one) => one.shutdown_at ?? null, text: null },
  { key: 'calls', title: 'Calls', number: true, value: (one) => one.tool_calls, text: (one) => count(one.tool_calls), hint: 'Successful tool calls, as the server counts them' },
  { key: 'version', title: 'Version', value: (one) => one.version, text: (one) => one.version || unknown },
  { key: 'port', title: 'Port', number: true, ascending: true, value: (one) => one.port, text: (one) => (one.port === null ? unknown : String(one.port)) },
];

// idles tells whether the time since the last call says something: one that needs
// attention is not asked.
export const idles = (one) => one.state !== 'zombie' && !one.busy && Boolean(one.idle_from);

const collator = new Intl.Collator('en', { numeric: true });

// sorted returns the rows of a table in the order of a column, {key, descending}, or
// as they came when sort is null. Equal ones keep their order.
/** @param {any[]} rows @param {any} sort @param {any[]} all */
export function sorted(rows, sort, all = columns) {
  const column = all.find((one) => one.key === sort?.key);
  if (!column) return [...rows];
  const sign = sort.descending ? -1 : 1;
  return rows
    .map((one) => [column.value(one) ?? null, one])
    .sort(([a], [b]) => {
      if (a === null || b === null) return Number(a === null) - Number(b === null);
      return sign * (isNumber(a) || a === -Infinity ? a - b : collator.compare(a, String(b)));
    })
    .map(([, one]) => one);
}

// turned is the sort after a press on a column: numbers begin with the largest,
// the third press goes back to the order of the list.
export function turned(sort, { key, number = false, ascending = false }) {
  const first = number && !ascending;
  if (sort?.key !== key) return { key, descending: first };
  return sort.descending === first ? { key, descending: !first } : null;
}

// parts splits what was typed into a filter; all of them have to be found.
export const parts = (text) => fold(text).split(/\s+/).filter(Boolean);

// matches looks at what the columns show, the path, and how the id begins. What
// nobody can see would be found for no reason.
export function matches(instance, wanted) {
  if (wanted.length === 0) return true;
  const { words } = instance;
  const text = fold([instance.label, instance.project_root, words.client, instance.context, instance.version, instance.port, words.state, words.apart, ...words.why,
    words.next && phrase(words.next, Date.now())].filter((part) => part !== null && part !== undefined).join('\n'));
  return wanted.every((word) => text.includes(word) || fold(instance.id).startsWith(word));
}

const fold = (text) => String(text).normalize('NFKC').toLowerCase();

export const groupings = { none: 'Not grouped', client: 'By client', project: 'By project' };

// What was kept names columns and groupings, so it is read below them.
const sort = stored('lamplighter-sort', null, ({ key, descending }) => (columns.some((one) => one.key === key) ? { key, descending: Boolean(descending) } : null));
const choice = stored('lamplighter-groups', '', (value) => (Object.hasOwn(groupings, value) ? value : null));

// grouping is by what servers are grouped, in tabs and table.
export const grouping = computed(() => choice.value || (servers.value.length > many ? 'client' : 'none'));

// grouped puts instances together by client or project: [{name, list}], the name ''
// for those that are not grouped. Each stands where its first one was, as in the menu.
export function grouped(instances, by) {
  const keys = { client: (one) => one.words.client || 'No known client', project: (one) => one.words.project || 'No project' };
  if (!Object.hasOwn(keys, by)) return [{ name: '', list: instances }];
  const groups = new Map();
  for (const one of instances) {
    const name = keys[by](one);
    groups.set(name, [...groups.get(name) ?? [], one]);
  }
  return [...groups].map(([name, list]) => ({ name, list }));
}

// arrange puts the living in their order and each ended one after the neighbour
// it had. With hold the order of before stays, and what is new comes last.
export function arrange(before, living, ended, hold = false) {
  const place = new Map(before.map((id, i) => [id, i]));
  if (hold) {
    const present = new Set([...living, ...ended]);
    return [...before.filter((id) => present.has(id)), ...[...present].filter((id) => !place.has(id))];
  }
  const order = [...living];
  const lost = ended.filter((id) => !order.includes(id)).sort((a, b) => (place.get(a) ?? Infinity) - (place.get(b) ?? Infinity) || 0);
  for (const id of lost) {
    const neighbour = before.slice(0, place.get(id) ?? before.length).findLast((one) => order.includes(one));
    order.splice(place.has(id) ? order.indexOf(neighbour) + 1 : order.length, 0, id);
  }
  return order;
}

// neighbour is the id one step away, going around at the ends; current need
// not be in the list.
export function neighbour(order, current, step) {
  if (order.length === 0) return undefined;
  const i = order.indexOf(current);
  if (i < 0) return order[step > 0 ? 0 : order.length - 1];
  return order[(i + step + order.length) % order.length];
}

// range are the ids from one to another, both included, in either direction.
export function range(order, from, to) {
  const a = order.indexOf(from);
  const b = order.indexOf(to);
  if (a < 0 || b < 0) return b < 0 ? [] : [to];
  return order.slice(Math.min(a, b), Math.max(a, b) + 1);
}
