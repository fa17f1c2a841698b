package daemon

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/daemon/daemontest"
	"lamplighter/app/socket"
	"lamplighter/monitor"
)

// Where the unit is there it is stopped, and nothing is run where it is not.
func TestStopSocket(t *testing.T) {
	for name, test := range map[string]struct {
		answers map[string]string
		changed []string
		fails   bool
	}{
		"there":      {map[string]string{askSocket: "loaded", stopSocket: ""}, []string{stopSocket}, false},
		"not there":  {map[string]string{askSocket: "not-found"}, nil, false},
		"no systemd": {nil, nil, false},
		"does not":   {map[string]string{askSocket: "loaded", stopSocket: "!Access \x1b[31mdenied"}, []string{stopSocket}, true},
	} {
		d := newDesktop(t)
		system := &daemontest.System{Answers: test.answers}
		d.Command = system.Run
		err := d.StopSocket(t.Context())
		if (err != nil) != test.fails || !slices.Equal(system.Changed(), test.changed) {
			t.Errorf("%s: %v, ran %q", name, err, system.Ran)
		}
		if err != nil && strings.ContainsFunc(err.Error(), monitor.Unprintable) {
			t.Errorf("%s: %q", name, err)
		}
	}
}

// The word of the user stops the socket, too; a restart leaves it.
func TestQuitStopsTheSocket(t *testing.T) {
	for restart, want := range map[bool][]string{true: nil, false: {stopSocket}} {
		b, _ := lending(t)
		system := &daemontest.System{Answers: map[string]string{askSocket: "loaded", stopSocket: ""}}
		b.Command = system.Run
		ended := make(chan struct{})
		b.ending(t.Context(), func() { close(ended) })(restart)
		<-ended
		if got := system.Changed(); !slices.Equal(got, want) {
			t.Errorf("restart %v: ran %q", restart, system.Ran)
		}
	}
}

// Without a socket that was passed, systemd listens in our place only when its service
// does not run and the path is ours: then it is told to stop.
func TestClaimSocket(t *testing.T) {
	const ask = "systemctl --user show --property=SubState --value lamplighter.socket"
	for name, test := range map[string]struct {
		answer  string // of systemctl, "" for none
		passed  bool
		missing bool // nobody listens
		named   string
		want    []string
	}{
		"systemd listens":     {answer: "listening", want: []string{stopSocket}},
		"its service runs":    {answer: "running"},
		"it does not listen":  {answer: "dead"},
		"there is no systemd": {},
		"it was passed":       {answer: "listening", passed: true},
		"nobody listens":      {answer: "listening", missing: true},
		"we have another one": {answer: "listening", named: "/tmp/other.sock"},
	} {
		d := newDesktop(t)
		system := &daemontest.System{Answers: map[string]string{stopSocket: ""}}
		if test.answer != "" {
			system.Answers[ask] = test.answer
		}
		d.Command = system.Run
		d.Getenv = func(name string) string {
			return map[string]string{"LAMPLIGHTER_SOCKET": test.named}[name]
		}
		d.Base.RuntimeDir = t.TempDir()
		path := filepath.Join(d.Base.RuntimeDir, "lamplighter", "share.sock")
		if !test.missing {
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		b := &background{Program: d.Program, places: d.Places(), log: slog.New(slog.NewTextHandler(io.Discard, nil))}
		if test.passed {
			b.passed = listening{}
		}
		if b.claimSocket(t.Context()); !slices.Equal(system.Changed(), test.want) {
			t.Errorf("%s: ran %q", name, system.Ran)
		}
	}
}

// listening is a socket that was passed.
type listening struct{ socket.Listener }

// What the command line says is for this process: the unit would start without it.
func TestFlagsAreNotHandedOver(t *testing.T) {
	for args, want := range map[string]bool{
		"--at-login": true, "--at-login --config /tmp/x.yaml": false, "--at-login --web-dashboard-global-port 24300": false,
		"--at-login --web-dashboard-global=false": false, "--at-login --idle-shutdown-minutes 5": false,
	} {
		d := newDesktop(t)
		d.Self = "/lamplighter"
		system := &daemontest.System{Answers: map[string]string{askService: unitOf(d.Self), startUnit: "", askActive: "active"}}
		d.Command = system.Run
		d.takes(t, args)
		if got := d.handedOver(t.Context()); got != want || slices.Contains(system.Ran, startUnit) != want {
			t.Errorf("%s: %v, ran %q", args, got, system.Ran)
		}
	}
}

func TestStartsProgram(t *testing.T) {
	dir := t.TempDir()
	program, link, other := filepath.Join(dir, "my lamplighter"), filepath.Join(dir, "link"), filepath.Join(dir, "other")
	if err := errors.Join(os.WriteFile(program, nil, 0o755), os.WriteFile(other, nil, 0o755), os.Symlink(program, link)); err != nil {
		t.Fatal(err)
	}
	execStart := func(program string) string {
		line, _, _ := strings.Cut(unitOf(program), "\n")
		return strings.TrimPrefix(line, "ExecStart=")
	}
	shell := `{ path=/bin/sh ; argv[]=/bin/sh -c exec "$$0" "$$@" ` + program + " run --at-login ; ignore_errors=no ; pid=0 }"
	for name, test := range map[string]struct {
		command string
		want    bool
	}{
		"this one":            {execStart(program), true},
		"by another way":      {execStart(link), true},
		"another one":         {execStart(other), false},
		"one that is gone":    {execStart(filepath.Join(dir, "gone")), false},
		"through the shell":   {shell, true},
		"another's argument":  {strings.Replace(shell, " run --at-login", "", 1), false},
		"nothing":             {"", false},
		"what nobody prints":  {"{ path=" + program, false},
		"the end of its path": {strings.Replace(shell, program, "/elsewhere"+program, 1), false},
	} {
		if got := startsProgram(test.command, program); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
