package launch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// shutdown asks the Serena whose dashboard has the port to end: PUT /shutdown.
// It saves its caches, stops its language servers and sends itself SIGTERM
// (SerenaAgent.shutdown of serena/agent.py). The error is nil when the request
// was sent and not turned down.
func (a *mcpProbe) shutdown(ctx context.Context, port int) error {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { sent.Store(info.Err == nil) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, address(port, "/shutdown").String(), nil)
	if err != nil {
		return err
	}
	resp, err := a.http.Do(req)
	if err != nil && sent.Load() {
		return nil // it is at it, or gone already
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("port %d answered /shutdown with %s", port, resp.Status)
	}
	return nil
}
