// @ts-check
// Start at login: how it stands, which all its switches on the page share.

import { html, signal, useEffect } from './preact.js';
import { sentence } from './format.js';
import { get, queued, send } from './http.js';
import { shown } from './query.js';
import { announce } from './ui.js';

export const login = signal(/** @type {{on: boolean, can: boolean, how: string | null, why: string | null} | null} */ (null)); // null: not known yet
const trouble = signal('');
const working = signal(false);

// standing says what does it, or what follows while nothing does, and what is odd
// about it.
export function standing({ on, can, how, why }) {
  const does = on && how ? `By ${/^[aeiou]/i.test(how) ? 'an' : 'a'} ${how}.` : '';
  const off = !on && can ? 'Off: you start it yourself after each login.' : '';
  return [does || off, why ? sentence(why) : ''].filter(Boolean).join(' ');
}

// look asks how it stands now. What is shown stays when nobody answers.
async function look() {
  try {
    const value = await get('login');
    if (!working.peek()) login.value = value;
  } catch (error) {
    if (!login.peek()) trouble.value = sentence(error.message);
  }
}

async function set(on) {
  if (working.peek()) return;
  working.value = true;
  trouble.value = '';
  try {
    login.value = await send('PUT', 'login', { on }, { limit: queued });
    announce(`Start at login is ${on ? 'on' : 'off'}`);
  } catch (error) {
    trouble.value = sentence(error.message);
  }
  working.value = false;
  if (trouble.peek()) look(); // it may be another way than it was
}

// AtLogin is a switch, with what prevents it below. It can be reached also where it
// cannot be switched, so that all can hear why.
export function AtLogin() {
  useEffect(() => { if (shown.value) look(); }, [shown.value]); // the menu of the icon switches it too
  const value = login.value;
  const note = working.value ? 'Switching…' : value ? standing(value) : '';
  const can = Boolean(value?.can) && !working.value;
  return html`<div class="at-login">
    ${value && html`<label><input type="checkbox" checked=${value.on} aria-disabled=${String(!can)} aria-description=${note} onClick=${(event) => {
      event.preventDefault(); // it changes when lamplighter says so
      if (can) set(event.currentTarget.checked);
    }} /><span>Start at login</span></label>`}
    ${note && html`<p class="muted" dir="auto">${note}</p>`}
    ${trouble.value && html`<p class="problem" role="alert" dir="auto">${trouble.value}</p>`}</div>`;
}
