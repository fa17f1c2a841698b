package serena

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"
)

// askTimeout is how long the request may take to arrive. The answer is not
// waited for: Serena cleans up first, and over stdio it ends without one.
const askTimeout = 500 * time.Millisecond

// Shutdown asks the Serena whose dashboard has the port to end: PUT /shutdown.
// It stops its language servers, which may take 2 s, and sends itself SIGTERM
// (SerenaAgent.shutdown of serena/agent.py). The error is nil when the request
// was sent and not turned down.
func (c *Client) Shutdown(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { sent.Store(info.Err == nil) },
	})
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+address+"/shutdown", nil)
	if err != nil {
		return fmt.Errorf("asking port %d to shut down: %w", port, err)
	}
	resp, err := c.http.Do(req)
	if err != nil && sent.Load() {
		return nil // it is at it, or gone already
	}
	if err != nil {
		return fmt.Errorf("asking port %d to shut down: %w", port, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("port %d answered /shutdown with %s", port, resp.Status)
	}
	return nil
}
