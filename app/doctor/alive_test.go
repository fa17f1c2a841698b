package doctor

import (
	"errors"
	"strings"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestJudgeAlive(t *testing.T) {
	runs := background{health: api.Health{PID: 7}}
	none := background{err: errors.New("not there")}
	mute := none
	mute.silent = []process.Info{{Identity: monitor.Identity{PID: 8}}}
	free := lockFacts{path: "/s/alive.lock"}
	held := lockFacts{path: "/s/alive.lock", held: true}
	for name, test := range map[string]struct {
		lock lockFacts
		b    background
		want string // "" for no line
	}{
		"free":          {free, none, ""},
		"ours":          {held, runs, ""},
		"of a mute one": {held, mute, ""},
		"another's":     {held, none, "the lock /s/alive.lock is held by another program | No session can be started. | End that program."},
		"no file":       {lockFacts{path: "/s/alive.lock", err: errors.New("it is not a regular file")}, runs, "cannot be taken: it is not a regular file"},
	} {
		lines := judgeAlive(test.lock, test.b)
		if test.want == "" && len(lines) > 0 || test.want != "" && (worst(lines) != Broken || !strings.Contains(said(lines), test.want)) {
			t.Errorf("%s: want %q, got %q", name, test.want, said(lines))
		}
	}
}

// Every warning of the background process is shown; without servers no session
// works, so that is broken.
func TestWarningsOfTheBackgroundProcess(t *testing.T) {
	f := programFacts{version: "1", background: background{health: api.Health{PID: 7, Version: "1", Warnings: []string{"port 1 is taken", launch.NoServers + "the lock is held"}}}}
	text := said(judgeProgram(f))
	for _, want := range []string{"warn: the background process warns: port 1 is taken", "broken: the background process warns: no servers can be started for clients: the lock is held"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
