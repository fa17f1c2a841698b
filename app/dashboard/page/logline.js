// @ts-check
// Serena's log messages, read. Pure. A message is
// "INFO  2026-11-20 23:05:01,123 [Task-22:FindSymbolTool] serena.agent:name:12 - text",
// the text may have several lines, a traceback for instance.

export const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'];

// Python's other levels, shown as the nearest of ours.
const aliases = { CRITICAL: 'ERROR', FATAL: 'ERROR', WARN: 'WARNING', NOTSET: 'DEBUG' };

// What Serena puts before the text never takes that many characters.
const headMost = 600;

const head = /^([A-Z]{2,10})\s+(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[,.](\d{1,6}) (?:\[([^\]\n]*)\] )?(?:([^\s:]+):([^\s:]*):(\d+) - )?/;

// parse reads a message. What is not in Serena's format is all text: level is
// null then, and day and clock are empty. The clock is Serena's local one.
export function parse(message) {
  const raw = clean(message);
  const found = head.exec(raw.slice(0, headMost));
  const level = found ? levelOf(found[1]) : null;
  if (!level) return { level: null, day: '', clock: '', millis: '', thread: '', source: '', from: '', text: raw, raw };
  const [all, , day, clock, millis, thread = '', logger = '', method = '', line = ''] = found;
  const source = logger ? `${logger}:${method}:${line}` : '';
  return { level, day, clock, millis: millis.slice(0, 3), thread, source, from: origin(thread, logger), text: raw.slice(all.length), raw };
}

export function levelOf(word) {
  return levels.includes(word) ? word : (aliases[word] ?? null);
}

// origin is where a message came from, short: the task it belongs to, else the
// last part of the logger's name.
function origin(thread, logger) {
  const task = /^Task-\d+:(.+)$/.exec(thread);
  if (task) return task[1];
  return logger.slice(logger.lastIndexOf('.') + 1) || thread;
}

// rank orders levels; what has none is shown with what it follows.
export function rank(level) {
  return levels.indexOf(level);
}

// Sequences that colour or move on a terminal: CSI, OSC and the short ones.
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])/g;
const controls = /[\x00-\x08\x0b-\x1f\x7f]/g;
const disturbing = /[\x80-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

// clean makes foreign text harmless to show: terminal sequences vanish, other
// control characters are written like \x07, and what could turn the direction
// of what follows, or hide, becomes U+FFFD.
export function clean(message) {
  const text = String(message).toWellFormed().replace(/\r\n?/g, '\n');
  return text.replace(escapes, '').replace(controls, written).replace(disturbing, '\ufffd').replace(/\n+$/, '');
}

function written(character) {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

// split cuts a long text into what is shown at once and the rest, at the end of
// a line where there is one. Few more lines are no reason to cut.
export function split(text, { lines = 30, characters = 8_000, spare = 10 } = {}) {
  let end = 0;
  let n = 0;
  for (let next = -1; n < lines + spare; n++) {
    next = text.indexOf('\n', next + 1);
    if (next < 0 || next >= characters) break;
    if (n < lines) end = next + 1;
  }
  const short = text.length <= characters;
  if (short && n < lines + spare) return { shown: text, rest: '' };
  if (end === 0 || !short && n < lines) end = wellFormedCut(text, characters);
  return { shown: text.slice(0, end), rest: text.slice(end) };
}

// wellFormedCut does not part the two halves of one character.
function wellFormedCut(text, at) {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}

export function countLines(text) {
  let n = 1;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) n++;
  return n;
}

// weight is what showing a message costs, in lines.
export function weight(text) {
  return Math.max(countLines(text), Math.ceil(text.length / 400));
}
