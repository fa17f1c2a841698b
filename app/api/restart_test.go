package api

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/stop"
)

// again ends a server as it is told, and says what became of it.
type again struct {
	next monitor.Identity
	err  error
}

func (a again) Restart(ctx context.Context, _ *monitor.Instance, _ bool, end func(context.Context) error) (monitor.Identity, error) {
	var refusal *stop.Refusal
	if errors.As(a.err, &refusal) { // it has not come to that
		return monitor.Identity{}, a.err
	}
	if err := end(ctx); err != nil {
		return monitor.Identity{}, err
	}
	return a.next, a.err
}

func TestRestart(t *testing.T) {
	busy := &stop.Refusal{Label: "7 - alpha", Kind: stop.ErrBusy, Why: "it works on requests."}
	ended := &ladder{result: stop.Result{Outcome: stop.Ended, Detail: "Ended: 7 - alpha."}}
	for name, c := range map[string]struct {
		id, body string
		ladder   *ladder
		again    again
		status   int
		says     string
		orders   int
	}{
		"shared":              {"7", `{}`, ended, again{next: monitor.Identity{PID: 70}}, 200, `"outcome":"restarted","detail":"Restarted: 7 - alpha. Its process is 70 now."`, 1},
		"nobody knows how":    {"7", ``, ended, again{}, 200, `"outcome":"ended","detail":"Ended: 7 - alpha. The next request of a client starts it again."`, 1},
		"at work":             {"7", ``, ended, again{err: busy}, 409, `"outcome":"refused","detail":"Not ended: 7 - alpha works on requests."`, 0},
		"it does not start":   {"7", ``, ended, again{err: errors.New("no Python")}, 502, `"outcome":"failed","detail":"Ended, and not started again: 7 - alpha: no Python."`, 1},
		"refused":             {"7", ``, &ladder{result: stop.Result{Outcome: stop.Refused, Detail: busy.Error()}, err: busy}, again{}, 409, `"forceable":true`, 1},
		"dry run":             {"7", `{"dry_run":true}`, ended, again{}, 200, `It starts again at once, and 1 client stays attached.`, 1},
		"held, not confirmed": {"8", ``, ended, again{}, 409, `it has to be confirmed. It ends, and Codex loses it.`, 0},
		"held":                {"8", `{"confirm":true}`, ended, again{}, 200, `"outcome":"ended","detail":"Ended: 7 - alpha."`, 1},
		"of nobody":           {"10", `{"confirm":true}`, ended, again{}, 409, `only whoever started it can start it again`, 0},
		"parked":              {"9-7", ``, ended, again{}, 409, `the next request starts it again`, 0},
		"no such server":      {"11", ``, ended, again{}, 404, `no server is`, 0},
		"another order":       {"7", `{"confirm":"yes"}`, ended, again{}, 400, `the body is not an order like`, 0},
		"a misspelt one":      {"7", `{"forced":true}`, ended, again{}, 400, `the body is not an order like`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ladder := &ladder{result: c.ladder.result, err: c.ladder.err}
			m := newModel()
			shared, held, free, parked := instance(7, "alpha"), instance(8, "beta"), instance(10, "gamma"), instance(9, "parked")
			shared.Recognised, held.Recognised, free.Recognised = true, true, true
			shared.State, held.State, free.State = monitor.StateProject, monitor.StateProject, monitor.StateProject
			shared.Client, free.Client = nil, nil
			shared.Managed, shared.Sharing = true, &monitor.Sharing{Clients: []monitor.Client{{Name: "Codex"}}}
			held.Client = &monitor.Client{Identity: monitor.Identity{PID: 3}, Name: "Codex"}
			parked.State = monitor.StateParked
			m.set(snapshot(shared, held, free, parked))
			p := parts(m, shower{})
			p.Stop, p.Restarter = ladder, c.again
			srv := serve(t, m, shower{}, func(o *Options) { o.Handler = Handler(p) })
			kind := ""
			if c.body != "" {
				kind = "application/json"
			}
			status, body := srv.post(t, "/global-dashboard/instance/"+c.id+"/restart", kind, strings.NewReader(c.body))
			if status != c.status || !strings.Contains(body, c.says) || len(ladder.orders) != c.orders {
				t.Errorf("%d %s, %d orders; want %d %s, %d", status, body, len(ladder.orders), c.status, c.says, c.orders)
			}
		})
	}
}
