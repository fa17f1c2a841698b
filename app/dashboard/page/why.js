// What the policies say about one instance, asked when somebody wants to know.

import { tell } from './dialog.js';
import { h } from './dom.js';
import { get } from './http.js';
import { say } from './notice.js';
import { decided } from './policies.js';

export async function explain(instance) {
  try {
    const { decisions } = await get('decisions');
    const about = decisions.filter((one) => one.id === instance.id);
    const now = new Date();
    await tell({
      title: `What the policies say about ${instance.label}`,
      body: h('div', null,
        about.length === 0 ? h('p', null, 'Nothing now: no rule applies to it.') : about.map((one) => h('p', { dir: 'auto' }, decided(one, now))),
        h('ul', { class: 'evidence muted' }, about[0]?.evidence.map((fact) => h('li', { dir: 'auto' }, fact)))),
    });
  } catch (error) {
    say(error.message, { kind: 'bad' });
  }
}
