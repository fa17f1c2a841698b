// Follows the workspaces while their view is shown: by a stream where there is a
// place for one, else by looking now and then.

import { get, request, sentence } from './http.js';
import { takePlace } from './places.js';
import { parser, pause, silent, trouble } from './stream.js';

const looks = 5_000; // ms between two looks without a stream

// follower calls got(body) with what there is, and lost(words) when that is not
// known any more. It does nothing before start.
export function follower({ got, lost }) {
  let abort = null; // of the connection; null while not started
  let timer = 0;
  let watch = 0;
  let failed = 0; // tries in a row

  function start() {
    if (abort) return;
    failed = 0;
    open();
  }

  function stop() {
    clearTimeout(timer);
    clearTimeout(watch);
    const mine = abort;
    abort = null;
    mine?.abort();
  }

  async function open() {
    clearTimeout(timer);
    const mine = abort = new AbortController();
    let why = trouble;
    let again = 0;
    const leave = await takePlace();
    try {
      if (abort !== mine) return;
      if (leave) why = await follow(mine);
      else {
        take(await get('/workspaces', { signal: mine.signal }), mine);
        again = looks;
      }
    } catch (error) {
      if (error.status) why = error.message;
    } finally {
      leave?.();
    }
    if (abort !== mine) return; // the watch is of another one, or has ended
    clearTimeout(watch);
    if (!again) lost(why);
    timer = setTimeout(open, again || pause(failed++));
  }

  async function follow(mine) {
    listen(mine);
    const response = await request('/workspaces/stream', { signal: mine.signal, headers: { Accept: 'text/event-stream' } });
    if (!response.ok) return refusal(response);
    const feed = parser((name, data) => {
      if (name === 'message') take(JSON.parse(data), mine);
    });
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || abort !== mine) return trouble;
      listen(mine);
      feed(value);
    }
  }

  function take(body, mine) {
    if (abort !== mine) return;
    failed = 0;
    got({ workspaces: list(body?.workspaces), making: list(body?.making), problem: body?.problem ?? '' });
  }

  function listen(mine) {
    clearTimeout(watch);
    watch = setTimeout(() => mine.abort(), silent);
  }

  return { start, stop };
}

const list = (value) => (Array.isArray(value) ? value : []);

async function refusal(response) {
  let answer = null;
  try {
    answer = JSON.parse(await response.text());
  } catch {
    // Then there is only the status.
  }
  return sentence(response.status, answer);
}
