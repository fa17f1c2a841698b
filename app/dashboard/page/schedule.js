// What to ask an instance, and when. Pure: the time is handed in, in ms.

// kinds are the answers that the page follows. The routes only take a lock, so
// they are cheap, but each request still costs the instance a thread.
export const kinds = {
  overview: { route: 'get_config_overview', every: 60_000 },
  queue: { route: 'queued_task_executions', every: 3_000 },
  // A call shorter than the time between two looks at the queue is seen here
  // alone: lamplighter looks at a server that uses little CPU more rarely.
  last: { route: 'last_execution', every: 3_000 },
  stats: { route: 'get_tool_stats', every: Infinity },
  estimator: { route: 'get_token_count_estimator_name', every: Infinity },
};

const retry = [3_000, 6_000, 12_000, 20_000]; // ms after the first failure, the second, …

// Schedule is about one instance.
export class Schedule {
  #state = new Map(); // kind → {due, asked, flying, again, failures, absent}
  #shown = [];

  // start begins to follow some kinds. What is not followed on a timer is asked
  // once more, because something may have happened while nobody looked.
  start(shown, now) {
    this.#shown = shown;
    for (const kind of shown) {
      const one = this.#of(kind);
      one.flying = false;
      if (one.absent) continue;
      const once = kind === 'estimator' && one.asked > -Infinity && one.failures === 0;
      if (!once && (kinds[kind].every === Infinity || one.asked + kinds[kind].every <= now || one.failures > 0)) one.due = now;
    }
  }

  stop() {
    for (const kind of this.#shown) this.#of(kind).flying = false;
    this.#shown = [];
  }

  // want makes a kind due now, or as soon as it was last asked gap ms ago.
  want(kind, now, gap = 0) {
    const one = this.#of(kind);
    if (one.absent || one.failures > 0) return;
    if (one.flying) one.again = true;
    else one.due = Math.min(one.due, Math.max(now, one.asked + gap));
  }

  // recover asks at once what failed before: the instance answers again.
  recover(now) {
    for (const kind of Object.keys(kinds)) {
      const one = this.#of(kind);
      if (one.failures === 0 || one.absent) continue;
      one.failures = 0;
      if (!one.flying) one.due = now;
    }
  }

  // take is the kinds to ask now. Each counts as asked until it is answered.
  take(now) {
    const list = this.#shown.filter((kind) => !this.#of(kind).flying && this.#of(kind).due <= now);
    for (const kind of list) Object.assign(this.#of(kind), { flying: true, again: false, asked: now });
    return list;
  }

  // answered puts a kind off until its next time. One that had failed before
  // says that the instance is well again, so the others need not wait either.
  answered(kind, now) {
    const one = this.#of(kind);
    if (one.failures > 0) this.recover(now);
    Object.assign(one, { flying: false, failures: 0, due: one.again ? now : now + kinds[kind].every, again: false });
  }

  // failed puts a kind off, for longer each time. What a server does not offer
  // is not asked again.
  failed(kind, now, { absent = false } = {}) {
    const one = this.#of(kind);
    const wait = retry[Math.min(one.failures, retry.length - 1)];
    Object.assign(one, { flying: false, again: false, absent, failures: one.failures + 1, due: absent ? Infinity : now + wait });
  }

  // wait is the time in ms until something is due, Infinity for never.
  wait(now) {
    const due = this.#shown.map((kind) => this.#of(kind)).filter((one) => !one.flying).map((one) => one.due);
    return Math.max(0, Math.min(Infinity, ...due) - now);
  }

  #of(kind) {
    if (!this.#state.has(kind)) this.#state.set(kind, { due: Infinity, asked: -Infinity, flying: false, again: false, failures: 0, absent: false });
    return this.#state.get(kind);
  }
}

const identity = ['state', 'project_name', 'project_root', 'context', 'version', 'dashboard_url'];
const activity = ['tool_calls', 'last_activity', 'busy'];

// news is what to ask because two snapshots of an instance differ. healed says
// that it answers again.
export function news(before, after) {
  const differs = (field) => before[field] !== after[field];
  const wanted = new Set();
  if (identity.some(differs)) wanted.add('overview');
  if (activity.some(differs)) for (const kind of ['last', 'stats', 'queue']) wanted.add(kind);
  return { wanted: [...wanted], healed: before.state === 'zombie' && after.state !== 'zombie' };
}

// trouble says in short words why an answer did not come. absent means that
// the server has no such route.
export function trouble(error) {
  switch (error.status) {
    case 404:
    case 405:
      return { absent: true, short: 'not offered', text: error.message };
    case 504:
      return { absent: false, short: 'it does not answer', text: error.message };
    case 0:
      return { absent: false, short: 'lamplighter does not answer', text: error.message };
  }
  return { absent: false, short: 'the last request failed', text: error.message };
}
