// How often one instance may be asked. Everything that the page forwards to an
// instance goes through its budget: a short burst when its page is opened, and
// from then on at most one request per second.

const gap = 1_000; // ms between two requests
const burst = 6; // requests at once when a view begins
const keepTime = 60_000; // ms that the budget of an instance nobody asks is kept

// Budget queues requests. now and later are given in tests.
export class Budget {
  #now;
  #later;
  #queue = []; // {fn, signal, resolve, reject, leave}
  #last = -Infinity;
  #begun = -Infinity;
  #free = 0;
  #waiting = false;

  constructor({ now = () => performance.now(), later = (fn, time) => setTimeout(fn, time) } = {}) {
    this.#now = now;
    this.#later = later;
    this.begin();
  }

  // begin allows another burst, unless there was one a moment ago: who flips
  // through tabs does not flood the instance.
  begin() {
    const now = this.#now();
    if (now - this.#begun < burst * gap) return;
    this.#begun = now;
    this.#free = burst;
  }

  // run calls fn when its turn has come, and settles as fn does. An urgent one
  // was ordered by a person: it does not wait, and the others wait for longer.
  // A request whose signal is aborted while it waits is never made.
  run(fn, { signal, urgent = false } = {}) {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (urgent) return this.#start(fn);
    return new Promise((resolve, reject) => {
      const one = { fn, resolve, reject, leave: () => {} };
      if (signal) {
        const gone = () => {
          this.#queue = this.#queue.filter((other) => other !== one);
          reject(signal.reason);
        };
        signal.addEventListener('abort', gone, { once: true });
        one.leave = () => signal.removeEventListener('abort', gone);
      }
      this.#queue.push(one);
      this.#pump();
    });
  }

  // idle says that nothing waits and nothing was asked for a while.
  idle() {
    return this.#queue.length === 0 && this.#now() - Math.max(this.#last, this.#begun) > keepTime;
  }

  #pump() {
    while (this.#queue.length > 0) {
      const now = this.#now();
      const inBurst = this.#free > 0 && now - this.#begun < gap;
      const wait = this.#last + gap - now;
      if (!inBurst && wait > 0) {
        this.#sleep(wait);
        return;
      }
      if (inBurst) this.#free--;
      const one = this.#queue.shift();
      one.leave();
      this.#start(one.fn).then(one.resolve, one.reject);
    }
  }

  #sleep(time) {
    if (this.#waiting) return;
    this.#waiting = true;
    this.#later(() => {
      this.#waiting = false;
      this.#pump();
    }, time);
  }

  async #start(fn) {
    this.#last = this.#now();
    return fn();
  }
}

const budgets = new Map(); // id → Budget

// budget is the one of an instance, the same for every part of the page.
export function budget(id) {
  const there = budgets.get(id);
  if (there) return there;
  for (const [other, one] of budgets) if (one.idle()) budgets.delete(other);
  const made = new Budget();
  budgets.set(id, made);
  return made;
}
