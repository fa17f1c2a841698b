package assistant

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/monitor"
)

// progressEvery is the least time between two notifications of one request.
const progressEvery = 500 * time.Millisecond

// smallestStep is by how much progress rises where nobody knows how far it is: MCP
// wants each notification to be higher than the one before
// (modelcontextprotocol.io, basic/utilities/progress).
const smallestStep = 0.001

// note is one state of what is at work: percent is -1 where nobody knows.
type note struct {
	percent int
	words   string
}

// notifier passes notes on from a goroutine of its own, the newest that there is and
// not too often, so that a client that does not read holds up no work. Make one with
// notify.
type notifier struct {
	notes   monitor.Feed[note]
	end     func()
	stopped chan struct{}
	done    chan struct{}
}

// notify passes notes to send until stop.
func notify(every time.Duration, send func(progress float64, words string)) *notifier {
	n := &notifier{stopped: make(chan struct{}), done: make(chan struct{})}
	n.end = sync.OnceFunc(func() { close(n.stopped) })
	newest, unsubscribe := n.notes.Subscribe()
	go func() {
		defer close(n.done)
		defer unsubscribe()
		for last := 0.0; ; {
			var next note
			select {
			case next = <-newest:
			case <-n.stopped:
				select {
				case next = <-newest:
				default:
					return
				}
			}
			last = max(float64(next.percent), last+smallestStep)
			send(last, next.words)
			pause := time.NewTimer(every)
			select {
			case <-pause.C:
			case <-n.stopped:
			}
			pause.Stop()
		}
	}()
	return n
}

// tell takes a note, which counts until a newer one comes.
func (n *notifier) tell(next note) { n.notes.Publish(next) }

// stop returns when the newest note was sent.
func (n *notifier) stop() {
	n.end()
	<-n.done
}

// noted runs do, which tells the client of a request how far it is, if that has
// asked for it with a progress token.
func noted(ctx context.Context, req *mcp.CallToolRequest, every time.Duration, do func(tell func(note))) {
	token := req.Params.GetProgressToken()
	if token == nil {
		do(nil)
		return
	}
	n := notify(every, func(progress float64, words string) {
		// A client that is gone is noticed by who reads from it.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: progress, Total: 100, Message: words})
	})
	defer n.stop()
	do(n.tell)
}
