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
	s := sessions{settings: func() config.Sessions { return holds }}
	serena, err := s.spec("/p", "")
	if got := serena.Template; err != nil || got.Name != monitor.KindSerena || got.Command != nil || len(got.Arguments) != 4 || got.Transport != launch.StreamableHTTP || serena.Limit != 10*time.Second {
		t.Errorf("%+v, %v", serena, err)
	}
	for _, name := range []string{"acme", ""} {
		holds.Server = "acme"
		acme, err := s.spec("/p", name)
		if got := acme.Template; err != nil || got.Name != "acme" || len(got.Command) != 2 || got.Transport != launch.SSE || got.Path != "/sse" || got.Directory != "{project}" || got.Env["A"] != "b" {
			t.Errorf("%+v, %v", acme, err)
		}
	}
	if _, err := s.spec("/p", "none"); !errors.Is(err, session.ErrNoServer) || !strings.Contains(err.Error(), `"none"`) {
		t.Error(err)
	}
}
