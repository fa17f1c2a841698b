package proxy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/launch"
	"lamplighter/app/share"
	"lamplighter/monitor"
)

// What a client says of its roots after they have changed counts, not what it has said to
// an earlier question and comes late.
func TestRootsChange(t *testing.T) {
	s := serveWeb(t, nil)
	usual := launch.Template{Name: monitor.KindSerena}
	broken := false
	plan := func(ctx context.Context, project string) (share.Plan, error) {
		if broken {
			return share.Plan{}, errors.New("it is broken")
		}
		return planner{}.ForAddress(ctx, project, usual)
	}
	none, err := plan(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	member := s.broker.Attach(none, monitor.Client{})
	t.Cleanup(member.Detach)
	c := &testClient{t: t, ended: make(chan error, 1)}
	c.Session = sessionOf(SessionOptions{Servers: member, Out: &c.fakeWriter, Plan: plan, Root: planner{}.Root})
	c.begin()
	apptest.Contains(t, c.ask("%s", strings.Replace(initializeLine, `"sampling"`, `"roots":{},"sampling"`, 1)), `"id":0`)
	c.put(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	tells := func(call uint64, roots string) {
		id := fmt.Sprint(rootsID, call)
		apptest.Eventually(t, "it is asked", func() bool { return c.holds(`"id":"`+id+`"`, "roots/list") })
		c.put(`{"jsonrpc":"2.0","id":%q,"result":{"roots":%s}}`, id, roots)
	}
	first := c.call(1, "echo", "{}")
	tells(first, "[]")
	apptest.Contains(t, c.get(first), noProject)
	tells(first, `[{"uri":"/a"}]`)
	c.put(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	second := c.call(2, "echo", "{}")
	tells(second, `[{"uri":"/b"}]`)
	apptest.Contains(t, c.get(second), "echo")
	if project := member.Project(); project != "/b" {
		t.Errorf("it has the project %q", project)
	}
	// They change again, so that its edits do not belong to /b any more.
	c.put(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	third := c.call(3, "echo", "{}")
	tells(third, `[{"uri":"/b"},{"uri":"/c"}]`)
	apptest.Contains(t, c.get(third), noProject)
	// One that cannot be had is asked for again.
	for i, want := range []string{"it is broken", "echo"} {
		broken = i == 0
		if broken {
			c.put(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		}
		call := c.call(4+i, "echo", "{}")
		tells(call, `[{"uri":"/c"}]`)
		apptest.Contains(t, c.get(call), want)
	}
}
