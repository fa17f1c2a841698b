// Changing the settings of a client: what would be changed is asked for and
// shown before anything is, and what became of it is told.

import { confirm, tell } from './dialog.js';
import { h, replace } from './dom.js';
import { sentence } from './format.js';
import { Failure, queued, send } from './http.js';
import { say } from './notice.js';
import { expected, isNothing, mayQuiet, outcome, plan, restarts, staysAlone } from './setup.js';
import { commandLine } from './setupmarks.js';

const order = (wish) => send('POST', 'setup', wish, { limit: queued });

// change asks about a change of a client's settings and makes it: that its Serena
// is shared, with undo that it no longer is, with quiet that Serena's own page
// stays closed. The result tells whether something may be different now.
export async function change(client, { undo = false, quiet = false } = {}) {
  const wish = undo ? { client: client.id, undo } : { client: client.id, no_page: quiet };
  try {
    const first = await order({ ...wish, dry_run: true });
    const files = plan(client, first);
    if (isNothing(files)) {
      const cannot = files.some((file) => file.problem);
      await tell({ title: cannot ? `The settings of ${client.name} cannot be changed now` : `There is nothing to change for ${client.name}`, body: planned(client, first, { undo }), kind: 'dialog-setup' });
      return false;
    }
    const { body, chosen } = question(client, first, wish, { undo, choice: !undo && !quiet && mayQuiet(client) });
    if (!await confirm({ title: title(client, { undo, quiet }), body, action: undo ? 'Take it out' : quiet ? 'Keep it closed' : staysAlone(client) ? 'Run it through Lamplighter' : 'Share' })) return false;
    const { text, kind } = outcome(await order(chosen()), { undo });
    say(text, { kind, stays: kind !== 'plain' });
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    say(error.message, { kind: 'bad' });
    return error.status === 0; // nobody knows
  }
}

function title(client, { undo, quiet }) {
  const { name } = client;
  if (undo) return `Take Lamplighter out of the settings of ${name}?`;
  if (quiet) return `Keep Serena’s own page closed for ${name}?`;
  return staysAlone(client) ? `Run the Serena of ${name} through Lamplighter?` : `Share the Serena of ${name}?`;
}

// question is the body of the dialog; chosen is what is wished at its end, of the
// files as they were shown last.
function question(client, first, wish, { undo, choice }) {
  let now = wish;
  let expect = expected(first);
  const shown = h('div', { 'aria-live': 'polite' }, planned(client, first, { undo }));
  const body = h('div', { class: 'setup-question' }, shown);
  if (choice) {
    const box = h('input', { type: 'checkbox' });
    box.addEventListener('change', async () => {
      const mine = now = { ...wish, no_page: box.checked };
      shown.setAttribute('aria-busy', 'true');
      let content;
      let sums = {}; // of nothing that could be shown nothing is changed
      try {
        const result = await order({ ...mine, dry_run: true });
        content = planned(client, result, { undo });
        sums = expected(result);
      } catch (error) {
        content = h('p', { class: 'setup-problem' }, error.message);
      }
      if (now !== mine) return; // it was changed again
      expect = sums;
      shown.removeAttribute('aria-busy');
      replace(shown, content);
    });
    body.append(h('label', { class: 'setup-choice' }, box, h('span', null, 'Keep Serena’s own page closed, which opens for every server')));
  }
  return { body, chosen: () => ({ ...now, expect }) };
}

// planned shows the files and the commands before and after.
function planned(client, result, { undo }) {
  const files = plan(client, result);
  if (files.length === 0) return h('p', null, undo ? 'Nothing of Lamplighter is in its settings.' : 'Its settings have no Serena that could be shared and is not.');
  return [(result.notes ?? []).map((note) => h('p', { class: 'setup-problem' }, note)), files.map((file) => plannedFile(file, { undo })), restarts(result.running) && h('p', null, restarts(result.running))];
}

function plannedFile(file, { undo }) {
  const after = file.entries.length > 0 || file.whole;
  return h('section', { class: 'setup-plan' },
    h('h3', { class: 'mono', dir: 'ltr' }, file.path),
    file.problem && h('p', { class: 'setup-problem', dir: 'auto' }, file.problem),
    file.entries.map((one) => [file.entries.length > 1 && h('p', null, h('strong', { dir: 'auto' }, one.name)), h('dl', { class: 'setup-change' },
      h('dt', null, h('span', { class: 'unseen' }, `${one.name}, `), 'before'), h('dd', null, commandLine(one.before || 'not known')),
      h('dt', null, h('span', { class: 'unseen' }, `${one.name}, `), 'after'), h('dd', null, commandLine(one.after)))]),
    file.entries.map((one) => one.alone && h('p', { class: 'muted', dir: 'auto' }, h('strong', null, one.name), ` cannot be shared, so its server is its own: ${one.alone}.`)),
    file.left.map((one) => h('p', { class: 'muted', dir: 'auto' }, h('strong', null, one.name), ` is left alone. ${sentence(one.why)}`)),
    !file.problem && after && h('p', { class: 'muted' }, fate(file, { undo })));
}

// fate says what becomes of the rest of a file.
function fate({ whole }, { undo }) {
  if (!undo) return 'Everything else in the file stays as it is. The file as it is now is kept beside it.';
  return whole ? 'The file from before is put back, byte for byte.' : 'Only this is taken out; everything else in the file stays as it is.';
}
