// Views whose files are loaded when they are shown first, so that opening the
// page costs no more for them.

import { h, replace, setText } from './dom.js';

// laterView returns {element, show({focus}), hide()}, as the view does that load()
// resolves to. Until then its heading, with the id heading, says title.
export function laterView({ title, heading, load }) {
  const words = h('h2', { id: heading, tabindex: -1 }, title);
  let view = null;
  let shown = false;
  const waiting = loading(words, load, (loaded) => {
    const focus = element.contains(document.activeElement);
    view = loaded;
    replace(element, view.element);
    if (shown) view.show({ focus });
  });
  const element = h('div', null, waiting.element);

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
      waiting.begin();
    },
    hide() {
      shown = false;
      view?.hide();
    },
  };
}

// laterSection is the same for a view within an instance: {element, show(found),
// update(found), hide()}. Its element becomes that of the view where it stands.
export function laterSection({ title, load }) {
  let view = null;
  let found = null; // what is shown, as it is known now
  const waiting = loading(h('h2', null, title), load, (loaded) => {
    view = loaded;
    view.element.hidden = waiting.element.hidden;
    waiting.element.replaceWith(view.element);
    if (found) view.show(found);
  });

  return {
    get element() { return view ? view.element : waiting.element; },
    show(now) {
      found = now;
      if (view) view.show(found);
      else waiting.begin();
    },
    update(now) {
      found = now;
      view?.update(found);
    },
    hide() {
      found = null;
      view?.hide();
    },
  };
}

// loading is what stands for a view beside its heading: begin() loads it, once,
// and hands it to came.
function loading(heading, load, came) {
  const trouble = h('p', { role: 'status' });
  // A browser may remember that a file could not be loaded, until the page is new.
  const again = h('button', { type: 'button', class: 'small', hidden: true, onclick: () => location.reload() }, 'Reload the page');
  let begun = false;

  async function begin() {
    if (begun) return;
    begun = true;
    setText(trouble, 'Loading…');
    let loaded;
    try {
      loaded = await load();
    } catch {
      setText(trouble, 'This part of the page could not be loaded: Lamplighter does not answer. Reload the page when it does.');
      again.hidden = false;
      return;
    }
    came(loaded);
  }

  return { element: h('div', { class: 'later' }, heading, trouble, again), begin };
}
