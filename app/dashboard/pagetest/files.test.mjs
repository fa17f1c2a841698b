// The files of the page fit together, and with its policy.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const folder = new URL('../page/', import.meta.url);
const names = readdirSync(folder);
const text = new Map(names.map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
const ours = names.filter((name) => name.endsWith('.js') && !['uPlot.esm.js', 'preact.js'].includes(name));

test('what is asked for is there', () => {
  for (const [, asset] of text.get('index.html').matchAll(/(?:href|src)="assets\/([^"]+)"/g)) assert.ok(text.has(asset), `index.html wants ${asset}`);
  for (const name of ours) {
    for (const [, module] of text.get(name).matchAll(/(?:from|import)\s*\(?'\.\/([^']+)'/g)) assert.ok(text.has(module), `${name} imports ${module}`);
  }
});

test('every stylesheet and module is used', () => {
  const wanted = [...text.values()].join('\n');
  for (const name of names) {
    if (/\.(css|js)$/.test(name)) assert.ok(wanted.includes(`assets/${name}"`) || wanted.includes(`'./${name}'`), `${name} is not used`);
  }
});

test('nothing goes around the policy', () => {
  const html = text.get('index.html');
  assert.doesNotMatch(html, /\sstyle=|\son[a-z]+=|<style|javascript:|<script(?![^>]*\ssrc=)/i);
  assert.doesNotMatch(html, /(?:src|href)="(?:https?:)?\/\//);
  for (const name of ours) {
    assert.doesNotMatch(text.get(name), /\.(innerHTML|outerHTML|insertAdjacentHTML)\b|document\.write|\beval\(|new Function|DOMParser|srcdoc|dangerouslySetInnerHTML/, name);
  }
});

test('the page stays small', () => {
  const sum = names.filter((name) => !name.endsWith('.txt')).reduce((total, name) => total + gzipSync(text.get(name), { level: 9 }).length, 0);
  assert.ok(sum <= 150_000, `${sum} bytes compressed`);
});
