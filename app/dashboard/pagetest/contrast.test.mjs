// Text has a contrast of at least 4.5 to what it stands on, marks and the focus
// of 3 (WCAG 2.2, 1.4.3 and 1.4.11), in both schemes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const css = readFileSync(new URL('../page/base.css', import.meta.url), 'utf8');
const [usual, more] = css.split('@media (prefers-contrast: more)');
const tokens = read(usual);

function read(text) {
  return new Map([...text.matchAll(/--([a-z-]+):\s*(?:light-dark\()?(#[0-9a-f]{6})(?:,\s*(#[0-9a-f]{6})\))?;/g)].map(([, name, light, dark]) => [name, [light, dark ?? light]]));
}

function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(colour.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

const grounds = ['page', 'surface', 'sunken', 'hover', 'chosen'];
const pairs = [
  ...['text', 'muted', 'accent-text', 'bad', 'live', 'warn', 'grey'].flatMap((text) => grounds.map((ground) => [text, ground, 4.5])),
  ...['mark-live', 'mark-warn', 'mark-bad', 'mark-grey', 'focus', 'line-strong'].flatMap((mark) => grounds.map((ground) => [mark, ground, 3])),
  ['text', 'warn-surface', 4.5], ['text', 'bad-surface', 4.5], ['text', 'live-surface', 4.5], ['bad', 'bad-surface', 4.5],
  // A tab and the header of a server stand on the colour of its state.
  ...['live', 'warn', 'bad'].flatMap((state) => [['muted', `${state}-surface`, 4.5], [`mark-${state}`, `${state}-surface`, 3]]),
  ['on-accent', 'accent', 4.5], ['on-bad', 'bad-fill', 4.5],
];

for (const [scheme, index] of [['light', 0], ['dark', 1]]) {
  test(`contrast in ${scheme}`, () => {
    for (const [front, back, least] of pairs) {
      const [a, b] = [tokens.get(front)?.[index], tokens.get(back)?.[index]];
      assert.ok(a && b, `${front} or ${back} is no token`);
      assert.ok(contrast(a, b) >= least, `${front} ${a} on ${back} ${b}: ${contrast(a, b).toFixed(2)}, want ${least}`);
    }
  });
}

test('who wants more contrast gets it', () => {
  const stronger = read(more);
  for (const [name, least] of [['muted', 7], ['line-strong', 4.5], ['line', 3]]) {
    for (const ground of grounds) for (const index of [0, 1]) {
      const [a, b] = [stronger.get(name)[index], tokens.get(ground)[index]];
      assert.ok(contrast(a, b) >= least, `${name} ${a} on ${ground} ${b}: ${contrast(a, b).toFixed(2)}, want ${least}`);
    }
  }
});
