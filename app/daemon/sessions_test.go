package daemon

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lamplighter/app/config"
	"lamplighter/app/launch"
	"lamplighter/app/session"
	"lamplighter/monitor"
)

// What is started is what the settings say.
func TestSessionSpec(t *testing.T) {
	holds := config.Default().Sessions()
	holds.Templates = []config.Template{{Name: "acme", Command: config.Command{"acme", "{port}"}, Transport: config.SSE, Path: "/sse", Directory: "{project}", Env: config.Environment{"A": "b"}}}
	b, now := &background{}, &held{sessions: holds}
	b.layers.now.Store(now)
	serena, err := b.sessionSpec("/p", "")
	if got := serena.Template; err != nil || got.Name != monitor.KindSerena || got.Command != nil || len(got.Arguments) != 4 || got.Transport != launch.StreamableHTTP || serena.Limit != 10*time.Second {
		t.Errorf("%+v, %v", serena, err)
	}
	for _, name := range []string{"acme", ""} {
		now.sessions.Server = "acme"
		acme, err := b.sessionSpec("/p", name)
		if got := acme.Template; err != nil || got.Name != "acme" || len(got.Command) != 2 || got.Transport != launch.SSE || got.Path != "/sse" || got.Directory != "{project}" || got.Env["A"] != "b" {
			t.Errorf("%+v, %v", acme, err)
		}
	}
	if _, err := b.sessionSpec("/p", "none"); !errors.Is(err, session.ErrNoServer) || !strings.Contains(err.Error(), `"none"`) {
		t.Error(err)
	}
}
