// The overview of an instance: what its own dashboard shows, asked as rarely as
// possible.

import { configurationSection } from './configuration.js';
import { h } from './dom.js';
import { executionSection } from './execution.js';
import { follower } from './follower.js';
import { empty, kept } from './kept.js';
import { languagesFold } from './languages.js';
import { configurationLists } from './lists.js';
import { memoriesFold } from './memories.js';
import { queueSection } from './queue.js';
import { versionOf } from './section.js';
import { usageSection } from './usage.js';

export function instanceOverview() {
  const following = follower({ kinds: followed, draw });
  const configuration = configurationSection();
  const usage = usageSection({ changed: () => following.want('stats') });
  const queue = queueSection({ changed: () => following.want('queue', 'last') });
  const execution = executionSection();
  const lists = configurationLists();
  const languages = languagesFold({ changed: () => following.want('overview') });
  const memories = memoriesFold();
  const element = h('div', { class: 'instance-overview' },
    h('div', { class: 'instance-left' }, configuration.element, usage.element, queue.element, execution.element),
    h('div', { class: 'instance-right' }, lists.elements, languages.element, memories.element));

  // Every part is drawn by itself, so that one that cannot be drawn does not
  // take the others with it; the browser's console has the reason.
  function draw(found) {
    const all = kept(found.instance.id);
    const record = (kind) => all[kind] ?? empty;
    const state = { ...found, version: versionOf(found.instance, all.overview?.value) };
    for (const part of [
      () => configuration.update(record('overview'), state),
      () => usage.update(record('stats'), state, record('estimator').value),
      () => queue.update(record('queue'), state),
      () => execution.update(record('last'), state),
      () => lists.update(record('overview'), state),
      () => languages.update(record('overview'), state),
      () => memories.update(record('overview'), state),
    ]) {
      try {
        part();
      } catch (error) {
        reportError(error);
      }
    }
  }

  return { element, show: following.show, update: following.update, hide: following.hide };
}

// followed is what to ask. How tokens are estimated does not change.
function followed(id) {
  const all = ['overview', 'queue', 'last', 'stats'];
  return kept(id).estimator?.value === undefined ? [...all, 'estimator'] : all;
}
