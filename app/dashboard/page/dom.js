// Making and changing nodes. All text is set as text; nothing here reads HTML.

const properties = new Set(['value', 'checked', 'indeterminate', 'selected', 'disabled', 'hidden', 'open', 'readOnly', 'htmlFor']);

// h makes an element. Attributes that are null, undefined or false are left
// out; style takes an object, because the policy of the page forbids it as text.
export function h(tag, attrs, ...children) {
  return fill(document.createElement(tag), attrs, children);
}

export function svg(tag, attrs, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attrs, children);
}

function fill(node, attrs, children) {
  for (const [name, value] of Object.entries(attrs ?? {})) setAttribute(node, name, value);
  append(node, children);
  return node;
}

// setAttribute sets one attribute the way h does, and writes only what differs.
// An option's value is an attribute: as a property it is its text until set.
export function setAttribute(node, name, value) {
  if (name.startsWith('on') && typeof value === 'function') {
    node.addEventListener(name.slice(2), value);
  } else if (name === 'dataset') {
    for (const [key, text] of Object.entries(value)) {
      if (text === null || text === undefined) delete node.dataset[key];
      else if (node.dataset[key] !== String(text)) node.dataset[key] = text;
    }
  } else if (name === 'style') {
    for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
  } else if (properties.has(name) && name in node && !(name === 'value' && node.localName === 'option')) {
    const wanted = value ?? (name === 'value' ? '' : false);
    if (node[name] !== wanted) node[name] = wanted;
  } else if (value === null || value === undefined || value === false) {
    node.removeAttribute(name);
  } else {
    const text = value === true ? '' : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === true) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

export function setText(node, text) {
  const wanted = String(text ?? '');
  if (node.textContent !== wanted) node.textContent = wanted;
}

export function setTitle(node, text) {
  setAttribute(node, 'title', text ? text : null);
}

const known = new WeakMap(); // parent → Map of key → node

// keyed makes the children of parent stand for items, in their order. The node
// of a key is made once and kept; update is called for every one, new ones too.
// Nodes that are where they should be are not touched, so focus, scrolling and
// selections last.
export function keyed(parent, items, key, make, update) {
  const before = known.get(parent) ?? new Map();
  const after = new Map();
  for (const item of items) {
    const id = key(item);
    if (after.has(id)) continue;
    const node = before.get(id) ?? make(item);
    after.set(id, node);
    update?.(node, item);
  }
  for (const [id, node] of before) if (!after.has(id)) node.remove();
  known.set(parent, after);
  place(parent, [...after.values()]);
}

// place puts nodes in order from the end, which leaves alone whatever follows
// its neighbour already. A node that has the focus keeps it while it is moved.
function place(parent, nodes) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  let next = null;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    if (node.parentNode !== parent || node.nextSibling !== next) {
      // moveBefore keeps what insertBefore loses, for nodes that are there.
      if (parent.moveBefore && node.parentNode === parent) parent.moveBefore(node, next);
      else parent.insertBefore(node, next);
    }
    next = node;
  }
  if (focused && document.activeElement !== focused && focused.isConnected) focused.focus({ preventScroll: true });
}
