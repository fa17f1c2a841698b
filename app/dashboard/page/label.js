// The label of an instance, such as "4711 - alpha": the name may be written
// from right to left, the pid before it never is.

import { h, setText, setTitle } from './dom.js';
import { middle, name } from './format.js';

// label makes a node for setLabel.
export function label(attrs) {
  return h('span', attrs, h('span', null), h('bdi', null));
}

// setLabel shows the label with its name shortened to at most so many
// characters; it returns the whole as text.
export function setLabel(node, instance, most = Infinity) {
  const last = name(instance);
  setText(node.firstChild, instance.label.slice(0, instance.label.length - last.length));
  setText(node.lastChild, Number.isFinite(most) ? middle(last, most) : last);
  setTitle(node.lastChild, node.lastChild.textContent === last ? null : last);
  return instance.label;
}
