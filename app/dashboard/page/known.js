// The overview of a server that has no dashboard to ask: what can be seen from
// outside, its history, and its events.

import { eventsView } from './events.js';
import { everything, whyUnasked } from './facts.js';
import { h, replace } from './dom.js';
import { historyView } from './history.js';
import { section } from './section.js';
import { time } from './times.js';

export function knownView() {
  const facts = section('What is known', { kind: 'known' });
  const views = [historyView(), eventsView()];
  const element = h('div', { class: 'known-view' }, facts.element,
    framed('History', 'known-history', views[0]), framed('Events', 'known-events', views[1]));
  let drawn = '';

  function draw({ instance, ended }) {
    const rows = everything(instance);
    const why = ended ? '' : whyUnasked(instance);
    const key = JSON.stringify([why, rows]);
    if (key === drawn) return;
    drawn = key;
    replace(facts.body, why ? h('p', { class: 'known-why muted' }, why) : null,
      h('dl', { class: 'facts' }, rows.map(([name, value]) => h('div', { class: 'fact fact-wide' }, h('dt', null, name), h('dd', { dir: 'auto' }, value instanceof Date ? time(value) : value)))));
  }

  return {
    element,
    show(found) {
      draw(found);
      for (const view of views) view.show(found);
    },
    update(found) {
      draw(found);
      for (const view of views) view.update(found);
    },
    hide() {
      for (const view of views) view.hide();
    },
  };
}

// framed puts a view into a frame that shows its name. A screen reader is told
// the name by the view itself.
function framed(title, kind, view) {
  const frame = section(title, { kind });
  frame.element.removeAttribute('aria-labelledby');
  frame.heading.setAttribute('aria-hidden', 'true');
  frame.body.append(view.element);
  return frame.element;
}
