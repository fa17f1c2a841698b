// @ts-check
// The view of one instance: its header, the tabs within it, and what each shows.

import { html, useEffect } from './preact.js';
import { Actions } from './actions.js';
import { Details } from './details.js';
import { EventList } from './events.js';
import { bytes, clockTime, count, duration, percent, phrase, plural, until } from './format.js';
import { History } from './history.js';
import { useKey } from './keys.js';
import { Logs } from './logs.js';
import { Memories } from './memories.js';
import { useDecisions } from './policies.js';
import { answerTo, budget } from './query.js';
import { go, link, wordOf } from './router.js';
import { pending } from './store.js';
import { Guard, Label, Mark, Section, Time, copy, nameOf, now } from './ui.js';

const views = [
  { section: '', title: 'Details' },
  { section: 'logs', title: 'Logs', asks: true, View: Logs },
  { section: 'history', title: 'History', View: History },
  { section: 'events', title: 'Events', View: EventList },
  { section: 'memories', title: 'Memories', asks: true, View: Memories },
];

// Instance shows what it is given, {instance, ended_at, why} of the store. found,
// which its parts get, says besides whether it has ended, and is silent when nothing
// that is shown can be of now.
export function Instance({ instance, ended_at, why, section }) {
  const { id } = instance;
  const found = { instance, ended_at, why, ended: Boolean(ended_at), silent: ['suspended', 'unreachable'].includes(instance.cause) };
  const offered = views.filter((one) => !one.asks || !instance.words.outside);
  const chosen = offered.find((one) => one.section === section) ?? offered[0];
  const asked = !instance.words.outside && (!found.ended || answerTo(`overview ${id}`).value !== undefined);
  const View = chosen.View ?? (asked ? Details : Known);
  useEffect(() => budget(id).begin(), [id]);

  const at = offered.indexOf(chosen);
  const step = (by) => go(wordOf(instance), offered[(at + by + offered.length) % offered.length].section);
  useKey('{', 'This view', 'previous view of the server', () => step(-1));
  useKey('}', 'This view', 'next view of the server', () => step(1));
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const all = [...event.currentTarget.parentElement.children];
    const here = all.indexOf(event.currentTarget);
    const to = { ArrowRight: (here + 1) % all.length, ArrowLeft: (here + all.length - 1) % all.length, Home: 0, End: all.length - 1, ' ': here }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[to].focus();
    all[to].click();
  };
  return html`<div class=${`instance ${found.ended ? 'ended' : ''}`}>
    <${Head} found=${found} />
    <nav class="subtabs" role="tablist" aria-label="Views of this server">${offered.map((one) => html`<a key=${one.section} role="tab" id=${`subtab-${one.section || 'details'}`} class="subtab" href=${link(instance, one.section)}
      aria-controls="instance-panel" aria-selected=${String(one === chosen)} tabindex=${one === chosen ? 0 : -1} onKeyDown=${pressed}>${one.title}</a>`)}</nav>
    <div id="instance-panel" class="instance-panel" role="tabpanel" aria-labelledby=${`subtab-${chosen.section || 'details'}`} data-view=${chosen.section || 'details'}>
      <${Guard} key=${`${id} ${chosen.section}`} of=${instance}><${View} key=${id} found=${found} /><//></div></div>`;
}

// Head says what it is, how it is, what it costs, and what can be done.
function Head({ found: { instance, ended, ended_at, why } }) {
  const { words, cause, pid } = instance;
  const order = pending.value.get(instance.id) ?? '';
  const since = words.short.find((one) => one.since);
  const doing = order ? [order] : [
    words.short.some((one) => one.text === 'busy') && 'busy',
    since && `idle since ${clockTime(since.since, now.value)}`,
    words.next && phrase(words.next, now.value),
    instance.shutdown_at && until(instance.shutdown_at, now.value),
  ].filter(Boolean);
  const command = `kill -CONT ${pid}`;
  return html`<header class="instance-head" data-state=${ended ? 'ended' : instance.state}>
    <div class="instance-title"><${Mark} kind=${ended ? 'ended' : instance.state} /><h1 title=${instance.label}><${Label} instance=${instance} most=${100} /></h1></div>
    <div class="instance-actions"><${Actions} instance=${instance} ended=${ended} /></div>
    <p class="instance-state"><strong class="state-words">${ended ? 'ended' : words.state}</strong>
      ${ended ? html`<span dir="auto">${why || 'nobody saw why'}</span> <${Time} at=${ended_at} />` : html`${words.why.map((text) => html`<span dir="auto">${text.replace(`${words.state}: `, '')}</span>`)}
        ${cause === 'suspended' && html`<span>Continue it with: <button type="button" class="quiet small" title="Copy" onClick=${() => copy(command)}><code>${command}</code></button></span>`}
        ${doing.map((text) => html`<span class="doing muted" dir="auto">${text}</span>`)}`}</p>
    ${!ended && html`<${Guard} of=${instance}><${Decided} instance=${instance} /><//>`}
    <dl class="headline">${headline(instance).map(([name, value, title]) => html`<div key=${name} title=${title}><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
  </header>`;
}

// Decided is what the policies say about it, where they say more than its plan.
function Decided({ instance }) {
  const about = useDecisions().filter((one) => one.id === instance.id && one.do !== 'wait');
  return about.map((one) => html`<p class="instance-decided muted" dir="auto" key=${one.rule} title=${one.evidence.join('\n')}>Policies: ${phrase(one.words, now.value)}</p>`);
}

// clientOf names a client, and its process.
const clientOf = ({ name, pid }) => `${name || 'unknown program'} (process ${pid})`;

// headline is the facts in the header, without those that are not known.
function headline({ words, client, clients, managed, saved_bytes: saved, started_at: started, rss_bytes: rss, processes, cpu_percent: cpu, tool_calls: calls, port }) {
  const names = clients.map(clientOf).join('\n') || client && `process ${client.pid}`;
  return [
    words.client && [managed ? 'asked for by' : 'client', words.client, names || undefined],
    saved > 0 && ['saves', bytes(saved), 'that separate servers would need besides'],
    started && ['started', html`<${Time} at=${started} />`],
    rss && ['memory', bytes(rss), processes ? `of ${plural(processes, 'process', 'processes')}` : undefined],
    typeof cpu === 'number' && ['CPU', percent(cpu), 'of one core'],
    typeof calls === 'number' && ['calls', count(calls), 'that succeeded, since it started or was reset'],
    port && ['port', String(port)],
  ].filter(Boolean);
}

// Known is the view of a server that has no dashboard to ask: what can be seen from
// outside, its history, and its events.
function Known({ found }) {
  const { instance, ended } = found;
  return html`<div class="known-view">
    <${Section} title="What is known" kind="known">
      ${!ended && html`<p class="muted" dir="auto">${instance.words.outside}</p>`}
      <dl class="facts">${everything(instance).map(([name, value]) => html`<div class="fact fact-wide" key=${name}><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl><//>
    <div class="card section known-history"><${History} found=${found} /></div><div class="card section known-events"><${EventList} found=${found} /></div></div>`;
}

// everything is all that the wire says of a server, as [name, value]; what is not
// known is left out.
function everything(one) {
  const time = (at) => at && html`<${Time} at=${at} />`;
  return [
    ['Name', nameOf(one)], ['Kind', one.kind === 'serena' ? 'Serena' : one.kind], ['Project', one.project_name], ['Path', one.project_root], ['Context', one.context], ['Modes', one.modes?.join(', ')], ['Version', one.version],
    [one.managed ? 'Asked for by' : 'Client', one.client && clientOf(one.client)],
    ['Shared by', one.clients.map(clientOf).join(', ')],
    ['Process', one.pid && String(one.pid)], ['Processes', one.processes && `${count(one.processes)} with everything below it`], ['MCP address', one.mcp_url],
    ['Started', time(one.started_at)], ['Last heartbeat', time(one.last_heartbeat)], ['Last activity', time(one.last_activity)],
    ['Idle', !one.busy && one.idle_from && duration((now.value - Date.parse(one.idle_from)) / 1000)],
    ['Entry', one.words.entry], ['Settings', one.entry?.file], ['Command', one.command], ['Directory', one.directory],
    ['Transport', one.transport],
    ['Also', one.words.why.join('; ')],
  ].filter(([, value]) => value);
}
