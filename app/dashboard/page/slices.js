// Long work in short pieces, so that typing and scrolling go on meanwhile.

const piece = 6; // ms of a frame

// slicer returns a function to await between two steps of some work: it lets
// the browser draw once a piece has taken long enough. now and frame are given
// in tests.
export function slicer({ now = () => performance.now(), frame = nextFrame } = {}) {
  let begun = now();
  return async () => {
    if (now() - begun < piece) return;
    await frame();
    begun = now();
  };
}

// nextFrame resolves before the browser draws again. A page that nobody sees is
// not drawn, and what it waits for must not wait with it.
export function nextFrame() {
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(resolve, 0);
    else requestAnimationFrame(() => resolve());
  });
}

// groups cuts a list into parts of at most so many.
export function groups(list, most) {
  return Array.from({ length: Math.ceil(list.length / most) }, (_, i) => list.slice(i * most, (i + 1) * most));
}

// firstFrom finds the first of a list for which is() holds, where it holds for
// all after it too; undefined when there is none.
export function firstFrom(list, is) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(list[middle])) high = middle;
    else low = middle + 1;
  }
  return list[low];
}
