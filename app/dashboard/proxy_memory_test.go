package dashboard

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"testing"

	"lamplighter/monitor"
)

// forever is a body that never ends.
type forever struct{}

func (forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// An answer that names no length and never ends costs little more than the most
// that one may have, not several times as much.
func TestEndlessAnswerCostsItsLimit(t *testing.T) {
	log, known := ruleOf(Route{http.MethodPost, "get_log_messages"})
	if !known {
		t.Fatal("logs are not forwarded")
	}
	p := NewProxy(ProxyOptions{})
	endless := &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(io.MultiReader(bytes.NewReader([]byte(`{"messages":["`)), forever{}))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := p.read(&monitor.Instance{}, log, endless)
	runtime.ReadMemStats(&after)
	if a.failure == nil || a.failure.status != http.StatusBadGateway {
		t.Errorf("answered %v", a.failure)
	}
	if len(p.large) != 0 {
		t.Error("the place of a large answer is not given back")
	}
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 2*maxLogAnswer {
		t.Errorf("%d MiB were taken for an answer of at most %d MiB", cost>>20, maxLogAnswer>>20)
	}
}
