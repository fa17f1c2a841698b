// The switch of start at login, with what stands against it below.

import { atLogin, standing } from './atlogin.js';
import { h, setAttribute, setText } from './dom.js';
import { announce } from './notice.js';

let serial = 0;

// atLoginSwitch makes a switch. All of them show the same.
export function atLoginSwitch() {
  const id = `at-login-${++serial}`;
  const note = h('p', { id, class: 'at-login-note muted', dir: 'auto' });
  const trouble = h('p', { class: 'at-login-trouble', role: 'alert', dir: 'auto' });
  // It can be reached also where it cannot be switched, so that all can hear why.
  const box = h('input', { type: 'checkbox', 'aria-describedby': id, onclick: (event) => {
    event.preventDefault(); // it changes when lamplighter says so
    if (box.getAttribute('aria-disabled') !== 'true') change(box.checked);
  } });
  const label = h('label', null, box, h('span', null, 'Start at login'));
  const element = h('div', { class: 'at-login' }, label, note, trouble);

  atLogin.subscribe(({ value, trouble: wrong, working }) => {
    label.hidden = value === null;
    if (value) {
      setAttribute(box, 'checked', value.on);
      setAttribute(box, 'aria-disabled', String(working || !value.can));
    }
    setText(note, working ? 'Switching…' : value ? standing(value) : '');
    note.hidden = note.textContent === '';
    setText(trouble, wrong);
    trouble.hidden = wrong === '';
  });
  return element;
}

async function change(on) {
  if (await atLogin.set(on)) announce(`Start at login is ${on ? 'on' : 'off'}`);
}
