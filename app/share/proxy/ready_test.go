package proxy

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/mcptest"
	"lamplighter/app/share"
)

// A server that was not told that its client is ready refuses whatever it is asked.
func TestInitializedThatIsNotSent(t *testing.T) {
	g := behind(t, mcptest.New(t))
	wake, lost := g.wake, atomic.Int32{}
	g.wake = func() share.Endpoint {
		server := wake()
		transport := server.Transport
		server.Transport = carries(func(r *http.Request) (*http.Response, error) {
			if r.GetBody != nil {
				body, _ := r.GetBody()
				if line, _ := io.ReadAll(body); bytes.Contains(line, []byte("notifications/initialized")) && lost.Add(1) == 1 {
					_, _ = r.GetBody()
					return nil, errUnreached
				}
				r.Body, _ = r.GetBody()
			}
			return transport.RoundTrip(r)
		})
		return server
	}
	c := join(t, g, nil)
	c.greet()
	apptest.Contains(t, c.get(c.call(1, "count", "{}")), `"1"`)
}
