// The text that the overview is filtered by. The header writes it.

class Filter {
  text = '';
  #readers = new Set();

  set(text) {
    if (text === this.text) return;
    this.text = text;
    for (const fn of [...this.#readers]) fn(text);
  }

  subscribe(fn) {
    this.#readers.add(fn);
    return () => this.#readers.delete(fn);
  }
}

export const filter = new Filter();
