package doctor

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestInBackground(t *testing.T) {
	for line, want := range map[string]bool{
		"lamplighter":                                      true,
		"lamplighter run":                                  true,
		"lamplighter --config x.yaml run":                  true,
		"lamplighter --config=x.yaml":                      true,
		"lamplighter --config x.yaml":                      true,
		"lamplighter --web-dashboard-global-port 2000 run": true,
		"lamplighter --idle-shutdown-minutes 30 run":       true,
		"lamplighter --web-dashboard-global=false":         true,
		"lamplighter status --watch":                       false,
		"lamplighter doctor":                               false,
		"lamplighter --help":                               false,
		"lamplighter --version":                            false,
	} {
		if got := inBackground(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestSilent(t *testing.T) {
	in := func(pid int, exe string, args ...string) process.Info {
		return process.Info{Identity: monitor.Identity{PID: pid}, Exe: exe, Args: append([]string{"lamplighter"}, args...)}
	}
	table := []process.Info{
		in(1, "/usr/bin/lamplighter", "run"), in(2, "/usr/bin/lamplighter"), in(3, "/opt/lamplighter (deleted)"), in(4, "/usr/bin/other", "run"),
		in(5, "/home/me/lamp", "run"), in(6, "/usr/bin/lamplighter", "status"), in(7, `C:\x\lamplighter-tray.exe`), in(8, "", "run"), in(9, "/usr/bin/lamplighter", "run"),
		in(10, "/usr/bin/lamplighter-connect", "keep"),
	}
	var got []int
	for _, p := range silent(table, 1, 9, "/home/me/lamp") {
		got = append(got, p.PID)
	}
	if want := []int{2, 3, 5, 7}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestVariable(t *testing.T) {
	environ := []string{"A=1", "B=x=y", "A=2", "EMPTY=", "=C:=C:\\"}
	for name, want := range map[string]string{"A": "2", "B": "x=y", "EMPTY": "", "NONE": ""} {
		if got := variable(environ, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
