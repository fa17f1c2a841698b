// @ts-check
// Which part of an instance's log to ask for, and what an answer means. Pure.
// Serena numbers its messages from 0 and hands out those from start_idx on, up
// to the newest, max_idx; it keeps only the newest few thousand.

export const atFirst = 500; // messages
const perStep = 500; // messages, with "Load earlier"

const beyond = 2 ** 30; // no messages, only their number

export class Pages {
  known = false; // how many there are
  first = 0; // index of the oldest message held
  next = 0; // index of the one that comes next
  whole = false; // there are none before first

  #begun = false;

  // ask is the start_idx of the next request.
  ask() {
    return this.known ? this.next : beyond;
  }

  // take reads an answer to ask(). messages are new ones; cleared says that the
  // log was emptied before them, lost how many of the new ones Serena dropped
  // before they were asked for, and again that there is more to ask for at once.
  take(answer) {
    const { messages, max } = read(answer);
    if (!this.known || max < this.next - 1) {
      const cleared = this.#begun;
      this.known = true;
      this.#begun = false;
      this.next = this.first = Math.max(max + 1 - atFirst, 0);
      this.whole = this.first === 0;
      return { messages: [], cleared, lost: 0, again: max >= 0 };
    }
    if (messages.length === 0) return { messages, cleared: false, lost: 0, again: false };
    const begin = max - messages.length + 1;
    const fresh = messages.slice(Math.max(this.next - begin, 0));
    const lost = this.#begun ? Math.max(begin - this.next, 0) : 0;
    if (!this.#begun) {
      this.first = Math.max(begin, this.next);
      this.whole ||= begin > this.next;
    }
    this.#begun = true;
    this.next = max + 1;
    return { messages: fresh, cleared: false, lost, again: false };
  }

  // askEarlier is the start_idx of a request for what came before first.
  askEarlier() {
    return Math.max(this.first - perStep, 0);
  }

  // takeEarlier reads an answer to askEarlier, which goes up to the newest
  // message; only those before first are returned.
  takeEarlier(asked, answer) {
    const { messages, max } = read(answer);
    if (max < this.next - 1) return []; // cleared meanwhile; take will find out
    const begin = max - messages.length + 1;
    const earlier = begin < this.first ? messages.slice(0, this.first - begin) : [];
    this.first -= earlier.length;
    this.whole = begin === 0 || begin > asked;
    return earlier;
  }
}

// read checks an answer, which comes from another program.
function read(answer) {
  if (Array.isArray(answer?.messages) && Number.isSafeInteger(answer.max_idx)) {
    return { messages: answer.messages.map(String), max: Math.max(answer.max_idx, answer.messages.length - 1, -1) };
  }
  throw new Error(typeof answer?.message === 'string' ? answer.message : 'it answered with something else than its log');
}
