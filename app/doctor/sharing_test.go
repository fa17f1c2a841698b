package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/config"
	"lamplighter/app/setup"
	"lamplighter/app/share"
	"lamplighter/app/socket"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func TestJudgeSharing(t *testing.T) {
	there := entry{exists: true, mode: fs.ModeSocket | 0o600, owner: 7, us: 7}
	well := sharingFacts{
		place: "/r/share.sock", at: there, runs: true, pid: 12, known: true, holds: config.Sharing{ParkAfter: 10 * time.Minute},
		here: "/p/alpha", plan: share.Plan{Key: "k", Facts: []string{
			"context ide", "PATH finds go at /b/go", "PATH finds gopls at /b/gopls", "variable LANG (value with the hash 1)", "variable TZ (value with the hash 2)",
		}},
	}
	away := func(f *sharingFacts) { f.runs, f.pid = false, 0 }
	shared := func(alone string, clients ...string) []*view.Server {
		in := monitor.Instance{Kind: monitor.KindSerena, Port: 24282, ProjectName: "alpha", Sharing: &monitor.Sharing{Alone: alone}}
		for _, name := range clients {
			in.Sharing.Clients = append(in.Sharing.Clients, monitor.Client{Name: name})
		}
		return view.All(&monitor.Snapshot{Instances: []*monitor.Instance{{Kind: monitor.KindSerena, Port: 9, ProjectName: "other"}, new(in)}})
	}
	for name, test := range map[string]struct {
		change func(*sharingFacts)
		mark   Mark
		want   string
	}{
		"well":            {func(*sharingFacts) {}, OK, "the share socket /r/share.sock answers; Lamplighter (pid 12) runs"},
		"its key":         {func(*sharingFacts) {}, OK, "in " + filepath.FromSlash("/p/alpha") + " would be shared by whoever has the same |"},
		"not shared here": {func(f *sharingFacts) { f.plan = share.Plan{Alone: "no project is named"} }, OK, "in /p/alpha would not be shared: no project is named"},
		"no place":        {func(f *sharingFacts) { f.place = "" }, Broken, "has no place"},
		"relative":        {func(f *sharingFacts) { f.reach = socket.ErrNotAbsolute }, Broken, "its path does not begin with"},
		"not served": {
			func(f *sharingFacts) {
				f.reach = &fs.PathError{Op: "dial", Path: "/r/share.sock", Err: syscall.ECONNREFUSED}
			}, Broken,
			"cannot be reached, although Lamplighter runs (pid 12)",
		},
		"does not run": {func(f *sharingFacts) { away(f); f.at = entry{err: fs.ErrNotExist, owner: -1} }, OK, "is not there, as Lamplighter does not run | Clients that run connect fail until"},
		"missed": {
			func(f *sharingFacts) {
				away(f)
				f.at, f.needed = entry{err: fs.ErrNotExist, owner: -1}, []string{"Codex", "Cursor"}
			}, Warn,
			"is not there, as Lamplighter does not run; those that connect to it: Codex, Cursor | Clients that run connect fail until Lamplighter runs, or with --or-direct have a server of their own. | Start it: lamplighter run.",
		},
		"missed, left behind":     {func(f *sharingFacts) { away(f); f.needed = []string{"Codex"} }, Warn, "was left behind; the next start replaces it; those that connect to it: Codex |"},
		"missed, nobody knows":    {func(f *sharingFacts) { away(f); f.known, f.needed = false, []string{"Codex"} }, Warn, "is there, and Lamplighter does not run; those that connect to it: Codex |"},
		"not missed, as it runs":  {func(f *sharingFacts) { f.needed = []string{"Codex"} }, OK, "answers; Lamplighter (pid 12) runs"},
		"not missed, as it waits": {func(f *sharingFacts) { away(f); f.waits, f.needed = true, []string{"Codex"} }, OK, "waits for a client, with which Lamplighter starts"},
		"a pipe":                  {func(f *sharingFacts) { away(f); f.pipe, f.at, f.known = true, entry{}, false }, OK, "the share pipe /r/share.sock is not there"},
		"left behind":             {away, OK, "was left behind; the next start replaces it"},
		"nobody knows":            {func(f *sharingFacts) { away(f); f.known = false }, OK, "is there, and Lamplighter does not run"},
		"waits":                   {func(f *sharingFacts) { away(f); f.waits = true }, OK, "waits for a client, with which Lamplighter starts"},
		"no socket":               {func(f *sharingFacts) { away(f); f.at.mode = 0o644 }, Broken, "is not a socket: something else lies there"},
		"another's":               {func(f *sharingFacts) { away(f); f.at.owner = 8 }, Broken, "belongs to user id 8"},
		"not permitted":           {func(f *sharingFacts) { away(f); f.at = entry{err: fs.ErrPermission, owner: -1} }, Broken, "cannot be looked at: "},
		"a wrong variable": {
			func(f *sharingFacts) {
				_, f.wrong = config.IdleShutdown(func(string) string { return "soon" })
			}, Warn, `LAMPLIGHTER_IDLE_SHUTDOWN_SECS: "soon" is not a whole number`,
		},
		"others": {func(f *sharingFacts) { f.others = []string{"ann", "b\x1b[2Job"} }, Warn, "no server is shared while other users are logged in: ann, b"},
		"others, so be it": {
			func(f *sharingFacts) { f.others, f.holds.WithOtherUsers = []string{"ann"}, true }, Warn,
			"servers are shared although other users are logged in: ann",
		},
		"nobody, so be it":      {func(f *sharingFacts) { f.holds.WithOtherUsers = true }, OK, "answers"},
		"others not known":      {func(f *sharingFacts) { f.users = errors.New("no /run") }, Warn, "it is not known who else is logged in: no /run"},
		"not known, so be it":   {func(f *sharingFacts) { f.users, f.holds.WithOtherUsers = errors.New("no /run"), true }, OK, "answers"},
		"three clients":         {func(f *sharingFacts) { f.instances = shared("", "Claude Code", "Codex", "Claude Code") }, OK, "0 - alpha is shared: 3 clients: Claude Code ×2, Codex"},
		"nobody any more":       {func(f *sharingFacts) { f.instances = shared("") }, OK, "0 - alpha is shared: no clients"},
		"one that has it alone": {func(f *sharingFacts) { f.instances = shared("its context codex can change the project", "Codex") }, OK, "0 - alpha is not shared, because its context codex can change the project (1 client: Codex)"},
	} {
		f := well
		test.change(&f)
		lines := finish(Sharing, judgeSharing(f))
		if worst(lines) != test.mark || !strings.Contains(said(lines), test.want) || strings.Contains(said(lines), "\x1b") {
			t.Errorf("%s: want %s with %q:\n%s", name, test.mark, test.want, said(lines))
		}
	}
	quiet := well
	quiet.planning = fmt.Errorf("no Serena")
	if lines := judgeSharing(quiet); len(lines) != 1 {
		t.Errorf("without a Serena:\n%s", said(lines))
	}
}

// TestConnecting: a client needs the share socket for what it starts through
// lamplighter-connect, also that of another installation, and for nothing else.
func TestConnecting(t *testing.T) {
	client := func(name string, entries ...setup.Entry) setup.Client {
		return setup.Client{Name: name, Files: []setup.File{{}, {Exists: true, Entries: entries}}}
	}
	got := connecting([]setup.Client{
		client("none"),
		client("Codex", setup.Entry{State: setup.Direct}, setup.Entry{State: setup.Shared}, setup.Entry{State: setup.Shared}),
		client("Cursor", setup.Entry{State: setup.Other}),
		client("off", setup.Entry{State: setup.Shared, Off: true}),
		client("others", setup.Entry{State: setup.Direct}, setup.Entry{State: setup.Remote}, setup.Entry{State: setup.Odd}, setup.Entry{State: setup.Gone}),
	})
	if !slices.Equal(got, []string{"Codex", "Cursor"}) {
		t.Errorf("%q", got)
	}
}

// TestSharedBy: the parts of a key are a short list for people, and all there
// for programs.
func TestSharedBy(t *testing.T) {
	facts := []string{
		"project /p/alpha", "Serena 2.1.0, started with /b/serena start-mcp-server", "context ide", "home /h", "PATH finds go at /b/go", "PATH finds gopls at /b/gopls", "variable LANG (value with the hash 1)",
	}
	lines := finish(Sharing, judgeKey(sharingFacts{here: "/p/alpha", plan: share.Plan{Key: "k", Facts: append(facts, "variable \x1b[2J")}}))
	report := Report{Lines: lines}
	text := report.Text(Style{Width: 80})
	apptest.Contains(t, text, "shared by whoever has the same\n", "\n      project /p/alpha\n", "\n      context ide\n", "\n      2 programs of the PATH, 2 variables (all of it with --json)\n")
	if strings.Contains(text, "gopls") || strings.Contains(text, "LANG") || strings.Contains(text, "\x1b") {
		t.Error(text)
	}
	for line := range strings.Lines(text) {
		if monitor.Columns(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("too wide: %q", line)
		}
	}
	encoded, err := report.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, fact := range facts {
		apptest.Contains(t, string(encoded), `"`+fact+`"`)
	}
	if got := factsInShort([]string{"context ide", "variable A"}); !slices.Equal(got, []string{"context ide", "1 variable (all of it with --json)"}) {
		t.Errorf("%q", got)
	}
}
