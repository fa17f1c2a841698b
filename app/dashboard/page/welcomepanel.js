// The welcome after installing: what Lamplighter sees, what it does and does not,
// and what there is to decide. It takes no focus, covers nothing, and goes for
// good when it is closed.

import { atLogin } from './atlogin.js';
import { atLoginSwitch } from './atloginswitch.js';
import { h, setText } from './dom.js';
import { send } from './http.js';
import { icon } from './icons.js';
import { say } from './notice.js';
import { address, clientsWord } from './router.js';
import { sentence } from './format.js';
import { does, leaves, offer, sees } from './welcomewords.js';

// welcomePanel returns {element, draw(state), renew(answer)} for an answer to GET
// welcome. closed() is called when the user closes it, with the panel still there.
export function welcomePanel(answer, { closed }) {
  const seen = h('p');
  const done = h('p');
  const offered = h('p', { class: 'muted' });
  const part = (title, body) => h('div', null, h('h3', null, title), body);
  const login = h('div', { hidden: !answer.login }, atLoginSwitch());
  const link = h('a', { class: 'button small', href: address(clientsWord) });
  const element = h('section', { class: 'card welcome', 'aria-labelledby': 'welcome-title' },
    h('div', { class: 'welcome-head' },
      h('h2', { id: 'welcome-title' }, 'Welcome to Lamplighter'),
      h('span', { class: 'muted welcome-version cut', dir: 'auto' }, answer.version),
      h('button', { type: 'button', class: 'quiet small welcome-close', onclick: close }, icon('close'), 'Close', h('span', { class: 'unseen' }, ' the welcome'))),
    h('div', { class: 'welcome-parts' }, part('What it sees', seen), part('What it does by itself', done), part('What it does not', h('p', null, leaves))),
    h('div', { class: 'welcome-choices' }, login,
      h('div', { class: 'welcome-clients' }, link, offered)));

  function close() {
    closed();
    dismiss();
  }

  function renew(newer) {
    setText(link, newer.clients === 0 ? 'Look at my clients’ settings' : 'Share servers among my clients…');
    setText(offered, offer(newer.clients));
    atLogin.take(newer.login);
  }

  renew(answer);
  return {
    element,
    renew,
    draw({ instances, status }) {
      setText(seen, sees(instances.length));
      setText(done, does(status?.policy));
    },
  };
}

async function dismiss() {
  try {
    await send('PUT', 'welcome', { dismissed: true });
  } catch (error) {
    say(`The welcome will be shown again. ${sentence(error.message)}`, { kind: 'bad' });
  }
}
