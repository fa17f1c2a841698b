package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/config"
	"lamplighter/app/setup"
)

// codex is a client with these entries in one file of the user's.
func codex(entries ...setup.Entry) setup.Client {
	return setup.Client{ID: "codex", Name: "Codex", Files: []setup.File{{Path: "/h/.codex/config.toml", Scope: setup.User, Exists: true, Entries: entries}}}
}

// serenaEntry is one of that name at line 12.
func serenaEntry(state setup.State, change func(*setup.Entry)) setup.Entry {
	e := setup.Entry{Name: "serena", Path: []string{"mcp_servers", "serena"}, Line: 12, State: state, Serena: true, Runs: "serena --token hunter2", Becomes: "x hunter2"}
	if state == setup.Shared {
		e.Becomes = ""
	}
	if state == setup.Gone {
		e.Broken = "is not there"
	}
	if change != nil {
		change(&e)
	}
	return e
}

func TestJudgeClients(t *testing.T) {
	plain := func(*setup.Entry) {}
	const at = "serena (/h/.codex/config.toml:12)"
	const opens = "warn: each server of these entries opens a page of Serena's own in the browser: Codex's " + at + " | Those that are shared do not. | "
	const closed = "set web_dashboard_open_on_launch: false, or web_dashboard_interface: tray_manager, in /h/.serena/serena_config.yml.\n"
	for name, test := range map[string]struct {
		state  setup.State
		change func(*setup.Entry)
		mark   Mark
		want   string // "" for no line but the sum
	}{
		"shared":         {setup.Shared, plain, OK, ""},
		"no socket":      {setup.Shared, func(e *setup.Entry) { e.Becomes = "x hunter2" }, Warn, "warn: Codex is not told the right place of Lamplighter's socket: " + at + " | It may pass on too little of its environment for lamplighter-connect to find it. | To name it: lamplighter setup codex\n"},
		"direct":         {setup.Direct, plain, OK, "ok: Codex starts Serena directly: " + at + " | Each of its windows has a server of its own. | To share one: lamplighter setup codex\n"},
		"gone":           {setup.Gone, plain, Broken, "broken: Codex runs a lamplighter-connect that is not there: " + at + " | It cannot start the server. | Point it to this installation: lamplighter setup codex; or take it out: lamplighter setup codex --undo --server NAME\n"},
		"gone, not ours": {setup.Gone, func(e *setup.Entry) { e.Serena = false }, Broken, "that is not there: " + at},
		"other":          {setup.Other, plain, Warn, "warn: Codex runs the lamplighter-connect of another installation: " + at + " | It works as long as that one stays. | Point it to this one: lamplighter setup codex\n"},
		"missing":        {setup.Direct, func(e *setup.Entry) { e.Missing = "serena"; e.Why = "It is not found." }, Warn, "warn: Codex starts a program that is not found: " + at + " starts serena | "},
		"missing behind": {setup.Shared, func(e *setup.Entry) { e.Missing = "uvx" }, Warn, at + " starts uvx | "},
		"another's program": {
			setup.Direct, func(e *setup.Entry) { e.Missing, e.Serena = "np\x1b[2Jx", false }, Warn, at + " starts np",
		},
		"through bash":    {setup.Direct, func(e *setup.Entry) { e.Serena = false; e.Why = "It starts Serena through bash -c." }, OK, "ok: Codex starts a server that lamplighter setup leaves alone: " + at + " | It starts Serena through bash -c. | \n"},
		"alone":           {setup.Shared, func(e *setup.Entry) { e.Alone = "no project is named" }, OK, "that is not shared, because no project is named: " + at},
		"direct, alone":   {setup.Direct, func(e *setup.Entry) { e.Alone = "its context codex can change the project" }, OK, "ok: Codex starts a Serena directly that cannot be shared, because its context codex can change the project: " + at + " | Each of its windows has a server of its own. | To see it in Lamplighter all the same: lamplighter setup codex\n"},
		"of no Serena":    {setup.Direct, func(e *setup.Entry) { e.Serena = false }, OK, ""},
		"at an address":   {setup.Remote, func(e *setup.Entry) { e.Serena = false }, OK, ""},
		"odd":             {setup.Odd, func(e *setup.Entry) { e.Why = "Its args are no list of strings." }, Warn, "warn: Codex has an entry that is not understood: " + at + " | Its args are no list of strings. | \n"},
		"opens":           {setup.Direct, func(e *setup.Entry) { e.OpensPage, e.PageStops = true, true }, Warn, opens + "lamplighter setup --no-page; or for all servers " + closed},
		"opens, to share": {setup.Direct, func(e *setup.Entry) { e.OpensPage = true }, Warn, opens + "To share them: lamplighter setup; or for all servers " + closed},
		"opens, left":     {setup.Direct, func(e *setup.Entry) { e.OpensPage, e.Becomes, e.Why = true, "", "It is in a file of others." }, Warn, opens + "For all servers " + closed},
		"off":             {setup.Gone, func(e *setup.Entry) { e.Off, e.OpensPage, e.Missing = true, true, "x" }, OK, ""},
	} {
		f := clientsFacts{home: true, listed: listed{all: []setup.Client{codex(serenaEntry(test.state, test.change))}}, serena: "/h/.serena/serena_config.yml"}
		lines := finish(Clients, judgeClients(f))
		text := said(lines)
		if worst(lines) != test.mark || !strings.Contains(text, test.want) || strings.ContainsAny(text, "\x1b") {
			t.Errorf("%s: want %s with %q:\n%s", name, test.mark, test.want, text)
		}
		if test.want == "" && len(lines) != 1 {
			t.Errorf("%s: more than the sum:\n%s", name, text)
		}
		encoded, err := Report{Lines: lines}.MarshalJSON()
		if err != nil || strings.Contains(string(encoded), "hunter2") {
			t.Errorf("%s: %v, a secret is shown: %s", name, err, encoded)
		}
	}
}

func TestClientsThatCannotBeListed(t *testing.T) {
	for name, test := range map[string]struct {
		f    clientsFacts
		mark Mark
		want string
	}{
		"no home":      {clientsFacts{}, Warn, "there is no home directory"},
		"failed":       {clientsFacts{home: true, listed: listed{err: errors.New("oh")}}, Warn, "cannot be looked at: oh"},
		"none there":   {clientsFacts{home: true, listed: listed{all: []setup.Client{{Name: "Codex"}, {Name: "Cursor"}}}}, OK, "no settings of MCP clients are there; known are those of Codex, Cursor"},
		"empty":        {clientsFacts{home: true, listed: listed{all: []setup.Client{codex()}}}, OK, "Codex: no MCP servers"},
		"not readable": {clientsFacts{home: true, listed: listed{all: []setup.Client{broken("It is not valid TOML: line 3, column 1.")}}}, Warn, "Codex: /h/.codex/config.toml: It is not valid TOML: line 3, column 1. | lamplighter setup leaves this file as it is. A server that is started from it may be shown without its name."},
		"told already": {clientsFacts{home: true, listed: listed{all: []setup.Client{broken("/h/.codex/config.toml is left as it is, because it is a pipe; correct it first.")}}}, Warn, "because it is a pipe; correct it first. | A server that is started from it may be shown without its name. | "},
		"with path":    {clientsFacts{home: true, listed: listed{all: []setup.Client{broken("/h/.codex/config.toml is a pipe.")}}}, Warn, "Codex: /h/.codex/config.toml is a pipe."},
	} {
		lines := judgeClients(test.f)
		if len(lines) != 1 || lines[0].Mark != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: want %s with %q:\n%s", name, test.mark, test.want, said(lines))
		}
	}
}

func broken(problem string) setup.Client {
	c := codex()
	c.Files[0].Problem = problem
	return c
}

// Serena's page is told of once: here for the entries that start it, else with
// Serena's settings.
func TestPageIsToldOnce(t *testing.T) {
	for name, test := range map[string]struct {
		clients []setup.Client
		want    bool // in Settings
	}{
		"nobody is known to start it": {[]setup.Client{codex(serenaEntry(setup.Direct, func(e *setup.Entry) { e.Serena = false }))}, true},
		"only one that is off":        {[]setup.Client{codex(serenaEntry(setup.Direct, func(e *setup.Entry) { e.Off = true }))}, true},
		"an entry that opens it":      {[]setup.Client{codex(serenaEntry(setup.Direct, func(e *setup.Entry) { e.OpensPage = true }))}, false},
		"one that does not":           {[]setup.Client{codex(serenaEntry(setup.Shared, nil))}, false},
	} {
		lines := judgeSerenas(settingsFacts{serenaPath: "/h/s.yml", file: config.SerenaPage{Exists: true}, elsewhere: startsSerena(test.clients)})
		if strings.Contains(said(lines), "opens a page") != test.want {
			t.Errorf("%s:\n%s", name, said(lines))
		}
	}
}

// lister is a Lister of a few words.
type lister func(ctx context.Context) ([]setup.Client, error)

func (l lister) List(ctx context.Context, _ setup.Wanted) ([]setup.Client, error) { return l(ctx) }

// Settings on a folder that hangs hold up nothing.
func TestListThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		l := listClients(t.Context(), time.Second, lister(func(context.Context) ([]setup.Client, error) {
			<-release
			return nil, nil
		}))
		if !errors.Is(l.err, errSlow) {
			t.Error(l.err)
		}
	})
	l := listClients(t.Context(), time.Minute, lister(func(context.Context) ([]setup.Client, error) { panic("oh") }))
	if l.err == nil || !strings.Contains(l.err.Error(), "failed inside") {
		t.Error(l.err)
	}
}
