// @ts-check
// Finding text in log messages. Pure.

import { count } from './format.js';

export const mostHits = 2_000; // more are neither counted nor marked

// finder makes a function that lists where a text holds the query, as
// [begin, end] pairs; case does not matter. An empty query finds nothing.
export function finder(query) {
  if (!query) return () => [];
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'gi');
  return (text) => Array.from(text.matchAll(pattern), (found) => [found.index, found.index + found[0].length]);
}

// step goes from a hit to the next (1) or previous (-1) one, around the ends.
export function step(at, by, all) {
  if (all === 0) return -1;
  if (at < 0) return by > 0 ? 0 : all - 1;
  return (at + by + all) % all;
}

// pieces cuts text at the hits: [{text, hit}], hit is the hit's number or -1.
// Hits beyond the text are left out, one that crosses its end is cut.
export function pieces(text, hits) {
  const list = [];
  let at = 0;
  for (const [i, [begin, end]] of hits.entries()) {
    const last = Math.min(end, text.length);
    if (begin >= last) continue;
    if (begin > at) list.push({ text: text.slice(at, begin), hit: -1 });
    list.push({ text: text.slice(begin, last), hit: i });
    at = last;
  }
  if (at < text.length) list.push({ text: text.slice(at), hit: -1 });
  return list;
}

const levelNames = { ERROR: 'errors', WARNING: 'warnings or errors', INFO: 'messages of level info or above' };

// missed says that nothing is there of a level, or nothing that was searched,
// among so many messages that are held; '' while something is. older tells
// whether there are others, that are not held.
export function missed({ known, shown, hits, query, level, older }) {
  if (known === 0) return '';
  const where = `in the ${older ? 'newest ' : ''}${known === 1 ? 'message' : `${count(known)} messages`}.`;
  if (shown === 0) return `No ${levelNames[level] ?? 'messages'} ${where}`;
  return query && hits === 0 ? `No “${query}” ${where}` : '';
}

export function foundWords(query, at, hits) {
  if (!query) return '';
  if (hits === 0) return 'None found';
  const all = hits >= mostHits ? `${count(mostHits)} and more` : count(hits);
  return at < 0 ? `${all} found` : `${count(at + 1)} of ${all}`;
}
