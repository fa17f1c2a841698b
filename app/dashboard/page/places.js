// Places for streams. A browser opens at most six connections to one host over
// HTTP/1.1, for all its windows together, and a stream keeps one for as long as
// it lasts: so only some windows may have one, and the others ask now and then.

const names = [0, 1, 2].map((n) => `lamplighter-stream-${n}`);

const free = () => {}; // gives back what was never taken

// takePlace takes a place for a stream, if there is one, and returns a function
// that gives it back; null says that all are taken. A window that is closed
// gives its place back by itself. Without locks nobody can count, and everyone
// gets one.
export async function takePlace(locks = globalThis.navigator?.locks) {
  if (!locks) return free;
  for (const name of names) {
    try {
      const release = await take(locks, name);
      if (release) return release;
    } catch {
      return free; // locks are forbidden here
    }
  }
  return null;
}

// take resolves to what gives the lock back, or to null if another has it.
function take(locks, name) {
  return new Promise((resolve, reject) => {
    locks.request(name, { ifAvailable: true }, (lock) => {
      if (!lock) return resolve(null);
      return new Promise((release) => resolve(release));
    }).catch(reject);
  });
}
