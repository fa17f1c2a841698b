// The place of the welcome at the top of the overview. Its panel is loaded where
// it is to be shown, which is once after installing.

import { h } from './dom.js';
import { get } from './http.js';
import { announce } from './notice.js';

// welcome returns {element, draw(state), again()}; again asks once more whether it
// is still to be shown, and what it could change.
export function welcome() {
  const element = h('div', { class: 'welcome-place', hidden: true });
  let panel = null;
  let now = null; // the state of the store that was drawn last
  let connected = false;
  let asking = false;
  let over = false; // there is nothing to show any more

  async function ask() {
    if (asking || over) return;
    asking = true;
    try {
      const answer = await get('welcome');
      if (!answer?.show) end();
      else if (panel) panel.renew(answer);
      else if (!over) await begin(answer);
    } catch {
      // Nobody is bothered with that. It is asked again with the next connection.
    }
    asking = false;
  }

  async function begin(answer) {
    const { welcomePanel } = await import('./welcomepanel.js');
    panel = welcomePanel(answer, { closed: end });
    panel.draw(now);
    element.append(panel.element);
    element.hidden = false;
    announce('A welcome stands above the servers');
  }

  function end() {
    over = true;
    // Who was in it goes on with what is below.
    if (element.contains(document.activeElement)) element.closest('[role="tabpanel"]')?.focus({ preventScroll: true });
    element.hidden = true;
    element.replaceChildren();
    panel = null;
  }

  return {
    element,
    draw(state) {
      now = state;
      const before = connected;
      connected = state.loaded && state.connected;
      if (connected && !before) ask();
      panel?.draw(state);
    },
    again() {
      if (panel) ask();
    },
  };
}
