// @ts-check
// Questions. The focus goes back to where it was; Esc means no.

import { html, signal, useLayoutEffect, useRef, useState } from './preact.js';

const open = signal(/** @type {any[]} */ ([])); // dialogs, the innermost last
let serial = 0;

// modal shows a dialog. body(close) makes what is below its title; the promise is
// what close was given, or otherwise dismissed. An element with autofocus has the
// focus first.
export function modal({ title, kind = '', dismissed = null, body }) {
  return new Promise((resolve) => {
    const one = { id: ++serial, title, kind, body, result: dismissed, before: document.activeElement, resolve };
    open.value = [...open.value, one];
  });
}

export function Dialogs() {
  return open.value.map((one) => html`<${Dialog} key=${one.id} one=${one} />`);
}

function Dialog({ one }) {
  const node = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const outside = useRef(false); // only a press that began outside is meant for the outside
  useLayoutEffect(() => node.current?.showModal(), []);
  const close = (value) => {
    one.result = value;
    node.current?.close();
  };
  const closed = () => {
    open.value = open.value.filter((other) => other !== one);
    (one.before?.isConnected ? one.before : document.getElementById('main'))?.focus({ preventScroll: true });
    one.resolve(one.result);
  };
  const beyond = (event) => {
    const box = node.current?.getBoundingClientRect();
    return event.target === node.current && box && (event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom);
  };
  return html`<dialog ref=${node} class=${`dialog ${one.kind}`} aria-labelledby=${`dialog-${one.id}`} onClose=${closed}
    onPointerDown=${(event) => { outside.current = beyond(event); }} onClick=${(event) => { if (outside.current && beyond(event)) close(one.result); }}>
    <h2 id=${`dialog-${one.id}`} class="dialog-title" dir="auto">${one.title}</h2>
    ${one.body(close)}
  </dialog>`;
}

const Body = ({ children }) => html`<div class="dialog-body">${typeof children === 'string' ? html`<p dir="auto">${children}</p>` : children}</div>`;

// confirm asks. On a danger the focus begins on Cancel, so Enter alone does nothing.
export function confirm({ title, body, action, danger = false, cancel = 'Cancel', kind = '' }) {
  return modal({
    title, kind: danger ? 'dialog-danger' : kind, dismissed: false,
    body: (close) => html`<${Body}>${body}<//><div class="dialog-actions">
      <button type="button" autofocus=${danger} onClick=${() => close(false)}>${cancel}</button>
      <button type="button" autofocus=${!danger} class=${danger ? 'danger' : 'primary'} onClick=${() => close(true)}>${action}</button></div>`,
  });
}

// tell shows something that needs no answer.
export function tell({ title, body, kind = '' }) {
  return modal({ title, kind, body: (close) => html`<${Body}>${body}<//><div class="dialog-actions"><button type="button" autofocus onClick=${() => close(null)}>Close</button></div>` });
}

// prompt asks for one line of text; null is no answer. check says what is wrong
// with a text, '' for nothing; the dialog stays until nothing is.
export function prompt({ title, label, value = '', action = 'OK', check = (text) => '' }) {
  return modal({ title, body: (close) => html`<${Prompt} ...${{ label, value, action, check, close }} />` });
}

function Prompt({ label, value, action, check, close }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [wrong, setWrong] = useState('');
  useLayoutEffect(() => field.current?.select(), []);
  const answer = (event) => {
    event.preventDefault();
    const text = field.current?.value ?? '';
    const found = check(text);
    setWrong(found);
    if (found) field.current?.focus();
    else close(text);
  };
  return html`<form onSubmit=${answer}>
    <label class="dialog-body"><span class="muted">${label}</span>
      <input ref=${field} type="text" class="wide" defaultValue=${value} autofocus aria-label=${label} aria-invalid=${wrong ? 'true' : undefined} autocomplete="off" spellcheck=${false} dir="auto" />
      <p class="dialog-wrong" role="alert">${wrong}</p></label>
    <div class="dialog-actions"><button type="button" onClick=${() => close(null)}>Cancel</button><button type="submit" class="primary">${action}</button></div>
  </form>`;
}
