// Keeps a view of one instance up to date. Its dashboard is asked while the
// view is shown, the instance lives and there is somebody to ask.

import { poller } from './poller.js';

// follower calls draw(found) whenever there is something new: found is what the
// store says of the instance, kept.js has the answers. kinds(id) is what to ask.
export function follower({ kinds, draw }, makePoller = poller) {
  const polls = makePoller(() => redraw());
  let found = null;

  function redraw() {
    if (found) draw(found);
  }

  function show(next) {
    found = next;
    if (!found.ended) polls.start(found.instance, kinds(found.instance.id), { paused: found.paused });
    redraw();
  }

  function update(next) {
    if (next.ended && !found.ended) polls.stop();
    else if (!next.ended) {
      polls.pause(next.paused);
      polls.update(next.instance);
    }
    found = next;
    redraw();
  }

  function hide() {
    polls.stop();
    found = null;
  }

  return {
    show, update, hide, redraw,
    want: polls.want,
    // found is null while the view is hidden.
    get found() {
      return found;
    },
  };
}
