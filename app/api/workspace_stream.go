package api

import (
	"bytes"
	"net/http"
	"slices"
	"time"
)

// viewPause is between two events of a stream of workspaces at least: progress
// is told that often.
const viewPause = 500 * time.Millisecond

// workspaceStream sends what GET /workspaces answers as server-sent events, now
// and after each change. What changes within viewPause is told together.
func (r routes) workspaceStream(w http.ResponseWriter, req *http.Request) {
	done, ok := r.openStream(w, req)
	if !ok {
		return
	}
	defer done()
	views, cancel := r.parts.Workspaces.Subscribe()
	defer cancel()
	beat := time.NewTicker(r.heartbeat)
	defer beat.Stop()
	pause := time.NewTimer(viewPause)
	pause.Stop()
	defer pause.Stop()
	next, said := views, []byte(nil)
	text := []byte(":\n\n")                 // which shows at once that there is a stream
	for (&sender{w: w}).send(text) == nil { // otherwise the reader has gone, or takes nothing
		text = nil
		select {
		case <-req.Context().Done():
			return
		case view := <-next:
			body, err := Marshal(encodeView(view))
			if err != nil {
				r.parts.Log.Error("an event cannot be sent", "error", err)
				return
			}
			if bytes.Equal(body, said) {
				continue
			}
			text, said = slices.Concat([]byte("data: "), body, []byte("\n\n")), body
			next = nil // until the pause is over; meanwhile the newest waits
			pause.Reset(viewPause)
		case <-pause.C:
			next = views
		case <-beat.C:
			text = []byte(":\n\n")
		}
	}
}
