import assert from 'node:assert/strict';
import test from 'node:test';

import { clean, countLines, parse, split, weight } from '../page/loglines.js';

test('a message is read', () => {
  const line = parse('INFO  2026-11-20 23:05:01,123 [Task-22:FindSymbolTool] serena.tools.tools_base:_log_tool_application:133 - find_symbol: a - b');
  assert.deepEqual({ ...line, raw: '' }, {
    level: 'INFO', day: '2026-11-20', clock: '23:05:01', millis: '123', thread: 'Task-22:FindSymbolTool',
    source: 'serena.tools.tools_base:_log_tool_application:133', from: 'FindSymbolTool', text: 'find_symbol: a - b', raw: '',
  });
});

test('messages of every kind', () => {
  for (const [message, level, from, text] of [
    ['DEBUG 2026-11-20 23:05:01,123 [MainThread] serena.agent:__init__:9 - x', 'DEBUG', 'agent', 'x'],
    ['WARNING 2026-11-20 23:05:01,123 [MainThread] root:f:1 - ', 'WARNING', 'root', ''],
    ['ERROR 2026-11-20 23:05:01,123 [Task-1:init_project_services] a.b:<lambda>:1 - x', 'ERROR', 'init_project_services', 'x'],
    ['CRITICAL 2026-11-20 23:05:01,123 [T] a:f:1 - x', 'ERROR', 'a', 'x'],
    ['INFO  2026-11-20 23:05:01,123 [T] no source', 'INFO', 'T', 'no source'],
    ['INFO  2026-11-20 23:05:01,123 bare', 'INFO', '', 'bare'],
    ['LOUD  2026-11-20 23:05:01,123 [T] a:f:1 - x', null, '', 'LOUD  2026-11-20 23:05:01,123 [T] a:f:1 - x'],
    ['INFORMATION', null, '', 'INFORMATION'],
    ['  File "a.py", line 3', null, '', '  File "a.py", line 3'],
    ['', null, '', ''],
  ]) {
    const line = parse(message);
    assert.deepEqual([line.level, line.from, line.text], [level, from, text], message);
  }
});

test('a traceback stays with its message', () => {
  const line = parse('ERROR 2026-11-20 23:05:01,123 [MainThread] a.b:f:1 - failed\nTraceback (most recent call last):\n  File "x"\nValueError: no\n');
  assert.equal(line.level, 'ERROR');
  assert.equal(line.text, 'failed\nTraceback (most recent call last):\n  File "x"\nValueError: no');
});

test('a head that never ends takes no time', () => {
  const long = 'INFO  2026-11-20 23:05:01,123 [' + 'a:'.repeat(500_000);
  assert.equal(parse(long).level, 'INFO');
});

test('what could disturb is made harmless', () => {
  for (const [message, want] of [
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b]0;title\x07x', 'x'],
    ['\x1b]8;;http\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['\x1b]never ended', 'never ended'],
    ['\x1b[', ''],
    ['\x1b', '\\x1b'],
    ['a\x00b\x07c\x7f', 'a\\x00b\\x07c\\x7f'],
    ['tab\tstays', 'tab\tstays'],
    ['one\r\ntwo\rthree', 'one\ntwo\nthree'],
    ['\u202egnirts', '\ufffdgnirts'],
    ['half \ud800', 'half \ufffd'],
    ['family 👩\u200d👧', 'family 👩\u200d👧'],
    ['ends\n\n', 'ends'],
    ['<script>&amp;', '<script>&amp;'],
  ]) assert.equal(clean(message), want, JSON.stringify(message));
});

test('no message that is thrown at it leaves a control character', () => {
  let seed = 7;
  const next = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
  for (let i = 0; i < 2_000; i++) {
    const text = Array.from({ length: next(40) }, () => String.fromCharCode(next(3) === 0 ? next(0x10000) : next(0x80))).join('');
    const line = parse(text);
    assert.doesNotMatch(line.raw, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
    assert.ok(line.raw.isWellFormed());
    assert.ok(line.raw.endsWith(line.text));
    const { shown, rest } = split(line.text, { lines: 2, characters: 10, spare: 1 });
    assert.equal(shown + rest, line.text);
    assert.ok(shown.isWellFormed());
  }
});

test('long messages are cut at the end of a line', () => {
  const lines = (n) => Array.from({ length: n }, (_, i) => `line ${i}`).join('\n');
  assert.deepEqual(split(lines(40)), { shown: lines(40), rest: '' });
  const { shown, rest } = split(lines(200));
  assert.equal(shown, lines(30) + '\n');
  assert.equal(countLines(rest), 170);
  assert.equal(split('x'.repeat(20_000)).shown.length, 8_000);
  assert.equal(split(`a\n${'x'.repeat(20_000)}`).shown.length, 8_000);
  assert.equal(split('').shown, '');
});

test('levels and weights', () => {
  assert.deepEqual(['INFO', 'WARN', 'FATAL', 'info', 'TRACE'].map((word) => parse(`${word} 2026-11-20 23:05:01,123 x`).level), ['INFO', 'WARNING', 'ERROR', null, null]);
  assert.deepEqual(['', 'a', 'a\nb', 'x'.repeat(4_000)].map(weight), [1, 1, 2, 10]);
});
