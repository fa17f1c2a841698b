// Follows one instance at a time: asks what is due, within its budget, and
// keeps the answers. Nothing is asked while the page is hidden.

import { Unreadable, mergeQueue, readers, sameQueue, sameTask } from './answers.js';
import { Failure, instance as requests } from './http.js';
import { empty, kept } from './kept.js';
import { budget } from './poll.js';
import { Schedule, kinds, news, trouble } from './schedule.js';

const settled = 15_000; // ms between two looks at the configuration because of calls

// poller calls changed(kind, record) for every answer and every failure; the
// record is what kept.js describes. At most one instance is followed.
export function poller(changed) {
  let run = null; // {instance, shown, schedule, control, timer, paused}

  function start(instance, shown, { paused = false } = {}) {
    stop();
    run = { instance, shown, schedule: new Schedule(), control: new AbortController(), timer: 0, paused };
    document.addEventListener('visibilitychange', visibility);
    resume();
  }

  function stop() {
    if (!run) return;
    document.removeEventListener('visibilitychange', visibility);
    rest();
    run = null;
  }

  function visibility() {
    if (document.hidden) rest();
    else resume();
  }

  // rest ends what is under way. resume begins again with what is due by now.
  function rest() {
    clearTimeout(run.timer);
    run.control.abort();
    run.schedule.stop();
  }

  function resume() {
    if (!run || run.paused || document.hidden) return;
    run.control = new AbortController();
    budget(run.instance.id).begin();
    run.schedule.start(run.shown, Date.now());
    pump();
  }

  // pause holds while there is nobody to ask.
  function pause(wanted) {
    if (!run || run.paused === wanted) return;
    run.paused = wanted;
    if (wanted) rest();
    else resume();
  }

  // update takes the snapshot of now, which may say that something happened.
  function update(instance) {
    if (!run) return;
    const { wanted, healed } = news(run.instance, instance);
    run.instance = instance;
    if (healed) run.schedule.recover(Date.now());
    want(...wanted);
  }

  function want(...list) {
    if (!run) return;
    for (const kind of list) run.schedule.want(kind, Date.now());
    pump();
  }

  function pump() {
    if (!run || run.paused || document.hidden) return;
    clearTimeout(run.timer);
    for (const kind of run.schedule.take(Date.now())) ask(run, run.control.signal, kind);
    const wait = run.schedule.wait(Date.now());
    if (wait < Infinity) run.timer = setTimeout(pump, wait);
  }

  async function ask(mine, signal, kind) {
    const { id } = mine.instance;
    const record = kept(id);
    const before = record[kind] ?? empty;
    try {
      const answer = await budget(id).run(() => requests(id).get(kinds[kind].route, { signal }), { signal });
      if (signal.aborted) return;
      let value = readers[kind](answer);
      if (kind === 'queue') value = mergeQueue(before.value ?? [], value, Date.now());
      if (kind === 'last') value.seen = firstSeen(before.value, value.task);
      record[kind] = { value, at: new Date(), trouble: null };
      mine.schedule.answered(kind, Date.now());
      follow(mine, kind, before.value, value);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Failure) && !(error instanceof Unreadable)) throw error;
      const why = trouble(error);
      record[kind] = { ...before, trouble: why };
      mine.schedule.failed(kind, Date.now(), why);
    }
    changed(kind, record[kind]);
    if (run === mine) pump();
  }

  // follow asks for what an answer says has changed elsewhere.
  function follow(mine, kind, before, value) {
    const now = Date.now();
    if (kind === 'queue' && before && !sameQueue(before, value)) {
      mine.schedule.want('last', now);
    }
    if (kind === 'last' && before && !sameTask(before.task, value.task)) {
      mine.schedule.want('stats', now);
      mine.schedule.want('overview', now, settled);
    }
  }

  return { start, stop, pause, update, want };
}

// firstSeen is when this page saw a task become the last one, null when it was
// that already at the first look.
function firstSeen(before, task) {
  if (!before || !task) return null;
  return sameTask(before.task, task) ? before.seen : new Date();
}
