package policy

import (
	"testing"

	"lamplighter/monitor"
)

func TestClient(t *testing.T) {
	for _, c := range []struct {
		client *monitor.Client
		want   string
	}{
		{nil, "its client"},
		{&monitor.Client{}, "its client"},
		{&monitor.Client{Name: "Codex"}, "its client Codex"},
		{&monitor.Client{Identity: monitor.Identity{PID: 7}}, "its client (7)"},
		{&monitor.Client{Identity: monitor.Identity{PID: 7}, Name: "a\x1b[2Jb"}, "its client a[2Jb (7)"},
	} {
		if got := client(&monitor.Instance{Client: c.client}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.client, got, c.want)
		}
	}
}
