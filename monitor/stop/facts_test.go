package stop

import (
	"slices"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// Who asks is shielded with what is above it, up to the first program that
// people work in.
func TestUpToTheirs(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  string
		chain []string // programs, who asks first
		want  int      // how many above it are shielded
	}{
		{"a browser", monitor.KindSerena, []string{"/usr/lib/chromium/chromium", "/usr/lib/chromium/chromium", "/usr/bin/python3", "/usr/bin/systemd"}, 0},
		{"below a browser", monitor.KindSerena, []string{"/usr/bin/curl", "/usr/bin/sh", "/usr/lib/firefox/firefox", "/usr/bin/python3"}, 2},
		{"below two", monitor.KindSerena, []string{"/usr/bin/curl", "/usr/bin/tmux", "/usr/bin/xterm"}, 1},
		{"a tool of the server", monitor.KindSerena, []string{"/usr/bin/curl", "/usr/bin/python3", "/usr/bin/systemd"}, 2},
		{"a browser that is a tool", "Playwright", []string{"/usr/lib/chromium/chromium", "/usr/bin/node", "/usr/bin/systemd"}, 2},
		{"hidden", monitor.KindSerena, []string{"", "", "/usr/lib/firefox/firefox", "/usr/bin/python3"}, 2},
		{"another by now", monitor.KindSerena, []string{"/usr/bin/curl", "!/usr/bin/xterm", "/usr/bin/python3"}, 2},
		{"nothing above", monitor.KindSerena, []string{"/usr/bin/curl"}, 0},
	} {
		l := New(Options{})
		alter(l).read = func(pid int) (process.Info, error) {
			exe := c.chain[pid]
			info := process.Info{Identity: monitor.Identity{PID: pid, Start: 1}, Exe: exe}
			switch {
			case exe == "":
				return process.Info{}, process.ErrGone
			case exe[0] == '!':
				info.Start, info.Exe = 2, exe[1:]
			}
			return info, nil
		}
		var above []monitor.Identity
		for pid := 1; pid < len(c.chain); pid++ {
			above = append(above, monitor.Identity{PID: pid, Start: 1})
		}
		if got := l.upToTheirs(c.kind, 0, above); !slices.Equal(got, above[:c.want]) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
