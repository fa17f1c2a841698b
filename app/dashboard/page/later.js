// A view whose files are loaded when it is shown first, so that opening the page
// costs no more for it.

import { h, replace, setText } from './dom.js';

// laterView returns {element, show({focus}), hide()}, as the view does that load()
// resolves to. Until then its heading, with the id heading, says title.
export function laterView({ title, heading, load }) {
  const words = h('h2', { id: heading, tabindex: -1 }, title);
  const trouble = h('p', { role: 'status' });
  // A browser may remember that a file could not be loaded, until the page is new.
  const again = h('button', { type: 'button', class: 'small', hidden: true, onclick: () => location.reload() }, 'Reload the page');
  const element = h('div', null, h('div', { class: 'later' }, words, trouble, again));
  let view = null;
  let shown = false;
  let asked = false;

  async function fetchIt() {
    asked = true;
    setText(trouble, 'Loading…');
    try {
      const loaded = await load();
      const focus = element.contains(document.activeElement);
      view = loaded;
      replace(element, view.element);
      if (shown) view.show({ focus });
    } catch {
      setText(trouble, 'This part of the page could not be loaded: Lamplighter does not answer. Reload the page when it does.');
      again.hidden = false;
    }
  }

  return {
    element,
    show({ focus }) {
      if (shown) {
        view?.show({ focus: false });
        return;
      }
      shown = true;
      if (view) view.show({ focus });
      else if (focus) words.focus();
      if (!asked) fetchIt();
    },
    hide() {
      shown = false;
      view?.hide();
    },
  };
}
