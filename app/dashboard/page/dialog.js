// Questions. The focus goes back to where it was; Esc means no.

import { h, setAttribute, setText } from './dom.js';

let serial = 0;

// modal shows a dialog made by fill(close), which returns its children and
// where the focus begins; the promise is what close was given, or otherwise
// dismissed.
export function modal({ title, kind = '', dismissed = null }, fill) {
  const before = document.activeElement;
  const id = `dialog-${++serial}`;
  return new Promise((resolve) => {
    let result = dismissed;
    const close = (value) => { result = value; dialog.close(); };
    const { content, focus } = fill(close);
    const dialog = h('dialog', { class: `dialog ${kind}`, 'aria-labelledby': id },
      h('h2', { id, class: 'dialog-title', dir: 'auto' }, title), content);
    // Only a press that began outside is meant for the outside.
    let outside = false;
    dialog.addEventListener('pointerdown', (event) => { outside = event.target === dialog && beyond(dialog, event); });
    dialog.addEventListener('click', (event) => { if (outside && event.target === dialog && beyond(dialog, event)) dialog.close(); });
    dialog.addEventListener('close', () => {
      dialog.remove();
      (before?.isConnected ? before : document.getElementById('main'))?.focus({ preventScroll: true });
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    focus?.focus();
  });
}

function beyond(dialog, { clientX: x, clientY: y }) {
  const box = dialog.getBoundingClientRect();
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}

// confirm asks. On a danger the focus begins on Cancel, so Enter alone does
// nothing.
export function confirm({ title, body, action, danger = false, cancel = 'Cancel' }) {
  return modal({ title, kind: danger ? 'dialog-danger' : '', dismissed: false }, (close) => {
    const no = h('button', { type: 'button', onclick: () => close(false) }, cancel);
    const yes = h('button', { type: 'button', class: danger ? 'danger' : 'primary', onclick: () => close(true) }, action);
    return { content: [words(body), h('div', { class: 'dialog-actions' }, no, yes)], focus: danger ? no : yes };
  });
}

// prompt asks for one line of text; null is no answer. check says what is wrong
// with a text, '' for nothing; the dialog stays until nothing is.
export function prompt({ title, label, value = '', action = 'OK', check = () => '' }) {
  return modal({ title }, (close) => {
    const field = h('input', { type: 'text', value, class: 'wide', 'aria-label': label, autocomplete: 'off', spellcheck: 'false', dir: 'auto' });
    const wrong = h('p', { class: 'dialog-wrong', role: 'alert' });
    const answer = () => {
      setText(wrong, check(field.value));
      setAttribute(field, 'aria-invalid', wrong.textContent ? 'true' : null);
      if (wrong.textContent) field.focus();
      else close(field.value);
    };
    field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.isComposing) return;
      event.preventDefault();
      answer();
    });
    queueMicrotask(() => field.select());
    return {
      content: [
        h('label', { class: 'dialog-body' }, h('span', { class: 'muted' }, label), field, wrong),
        h('div', { class: 'dialog-actions' },
          h('button', { type: 'button', onclick: () => close(null) }, 'Cancel'),
          h('button', { type: 'button', class: 'primary', onclick: answer }, action)),
      ],
      focus: field,
    };
  });
}

// tell shows something that needs no answer.
export function tell({ title, body, close: word = 'Close', kind = '' }) {
  return modal({ title, kind }, (close) => {
    const button = h('button', { type: 'button', onclick: () => close(null) }, word);
    return { content: [words(body), h('div', { class: 'dialog-actions' }, button)], focus: button };
  });
}

function words(body) {
  return h('div', { class: 'dialog-body' }, typeof body === 'string' ? h('p', { dir: 'auto' }, body) : body);
}
