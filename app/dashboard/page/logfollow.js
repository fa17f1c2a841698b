// Staying at the end of a log, until the reader scrolls up.

import { plural } from './format.js';
import { setText } from './dom.js';

const nearly = 8; // px from the end that still count as the end

export class Follow {
  following = true;

  #box;
  #button;
  #changed;
  #top = 0;
  #below = 0;
  #pressed = false;

  // box scrolls, button says what came meanwhile, changed is called when
  // following begins or ends.
  constructor(box, button, changed) {
    this.#box = box;
    this.#button = button;
    this.#changed = changed;
    box.classList.add('log-following');
    box.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    box.addEventListener('pointerdown', () => { this.#pressed = true; });
    for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => { this.#pressed = false; });
    button.addEventListener('click', () => {
      this.begin();
      box.focus({ preventScroll: true });
    });
  }

  // watch keeps the end in view when the rows or the box change their size.
  watch(rows) {
    this.observer?.disconnect();
    this.observer = new ResizeObserver(() => this.#toEnd());
    this.observer.observe(rows);
    this.observer.observe(this.#box);
  }

  begin() {
    getSelection()?.removeAllRanges();
    this.#top = 0;
    this.#set(true);
    this.#toEnd();
  }

  end() {
    this.#set(false);
  }

  // grew says that n rows were added at the end.
  grew(n) {
    if (this.following && !this.#selecting()) {
      this.#toEnd();
      return;
    }
    this.#below += n;
    this.#tell();
  }

  #toEnd() {
    if (!this.following || this.#selecting()) return;
    if (this.#movedUp()) {
      this.#set(false);
      return;
    }
    this.#box.scrollTop = this.#box.scrollHeight;
    this.#top = this.#box.scrollTop;
  }

  #atEnd() {
    return this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight <= nearly;
  }

  // While following, the browser does not anchor what is in view: what moves
  // the box upwards is the reader, or a log that became shorter, which leaves
  // it at the end. A new size may be noticed before the reader's move is.
  #movedUp() {
    return this.#box.scrollTop < this.#top - 1 && !this.#atEnd();
  }

  #scrolled() {
    if (this.#atEnd()) this.#set(true);
    else if (this.#movedUp()) this.#set(false);
    this.#top = this.#box.scrollTop;
  }

  // While somebody selects, nothing moves under the pointer.
  #selecting() {
    const selection = getSelection();
    return this.#pressed || Boolean(selection && !selection.isCollapsed && selection.anchorNode && this.#box.contains(selection.anchorNode));
  }

  #set(following) {
    if (following) {
      this.#below = 0;
      this.#tell();
    }
    if (this.following === following) return;
    this.following = following;
    this.#box.classList.toggle('log-following', following);
    this.#changed(following);
  }

  #tell() {
    this.#button.hidden = this.#below === 0;
    if (this.#below > 0) setText(this.#button, `${plural(this.#below, 'new message', 'new messages')} below`);
  }
}
