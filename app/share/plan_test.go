package share

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/launch"
	"lamplighter/app/project"
	"lamplighter/monitor"
)

const fromCwd = "serena start-mcp-server --project-from-cwd --context claude-code"

func TestWhatCannotBeShared(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	m.file("alpha/file")
	m.write("twin/.serena/project.yml", "project_name: twins")
	m.write("twin2/.serena/project.yml", "project_name: twins")
	m.write("third/.serena/project.yml", "project_name: three")
	m.write("third/.serena/project.local.yml", "# Serena writes only comments into a new one.\n")
	m.write("home/.serena/serena_config.yml", "projects: ["+m.path("twin")+", "+m.path("twin2")+", "+m.path("third")+"]")
	if p := planned(t, asker(nil), m.wish(m.top, "serena start-mcp-server --context ide three")); p.Alone != "" || p.Spec.Project != m.path("third") {
		t.Errorf("by its name: %q, %q", p.Spec.Project, p.Alone)
	}
	for _, test := range []struct {
		dir, command, want string
	}{
		{repo, "npx server", string(notSerena)},
		{repo, "no-such-program", string(notSerena)},
		{m.path("gone"), "npx server", string(notSerena)},
		{repo, "serena start-mcp-server --context ide --project ./beta", "the project ./beta is not the path of a directory"},
		{repo, "serena start-mcp-server --context ide --project ~/beta", "the project ~/beta is not the path of a directory"},
		{repo, "serena start-mcp-server --context ide --project ./file", "is not the path of a directory"},
		{m.top, "serena start-mcp-server --context ide twins", "the project twins is the name of several projects of Serena"},
		{m.top, "serena start-mcp-server --project none", "the project none is not the path of a directory"},
		{repo, "serena start-mcp-server --project-from-cwd --context ide --transport sse", "it is to speak sse"},
		{repo, "uvx --from ./x serena start-mcp-server --project-from-cwd --context ide", string(fromTheDir)},
		{repo, "uvx --from . serena start-mcp-server --project-from-cwd --context ide", string(fromTheDir)},
		{repo, "uvx --index file serena start-mcp-server --project-from-cwd --context ide", string(fromTheDir)},
	} {
		p := planned(t, asker(nil), m.wish(test.dir, test.command))
		if !strings.Contains(p.Alone, test.want) || p.Alone == "" {
			t.Errorf("%s: %q", test.command, p.Alone)
		}
	}
	for want, change := range map[string]func(*PlannerOptions){
		"Serena 1.4.2 is not known to be safe": func(o *PlannerOptions) { o.Finder = taker{version: "1.4.2"} },
		"Serena ? is not known to be safe":     func(o *PlannerOptions) { o.Finder = taker{version: "?"} },
		"could not be found out: It broke":     func(o *PlannerOptions) { o.Finder = taker{why: "It broke.\x1b"} },
		"its version could not be found":       func(o *PlannerOptions) { o.Finder = taker{version: "2.1.0", other: []string{"/elsewhere/serena"}} },
		"1 other user is logged in, bob":       func(o *PlannerOptions) { o.OthersLoggedIn = func() ([]string, error) { return []string{"bob"}, nil } },
		"not known whether other users are":    func(o *PlannerOptions) { o.OthersLoggedIn = func() ([]string, error) { return nil, errors.New("no") } },
	} {
		p := planned(t, asker(change), m.wish(repo, fromCwd))
		if !strings.Contains(p.Alone, want) || strings.Contains(p.Alone, "\x1b") {
			t.Errorf("%q instead of %q", p.Alone, want)
		}
	}
	// Where it is called does not matter to a whole path.
	if p := planned(t, asker(nil), m.wish(m.path("gone"), "serena start-mcp-server --context ide --project "+repo)); p.Alone != "" || p.Spec.Project != repo {
		t.Errorf("%+v", p)
	}
	// What the setting allows.
	a := asker(func(o *PlannerOptions) {
		o.OthersLoggedIn = func() ([]string, error) { return []string{"bob"}, nil }
		o.Allowed = func() bool { return true }
	})
	if p := planned(t, a, m.wish(repo, fromCwd)); p.Alone != "" {
		t.Error(p.Alone)
	}
}

// What a client without a project shares, and with whom it does once it activates one.
func TestMoved(t *testing.T) {
	m := newMachine(t)
	alpha, beta := m.repo("alpha"), m.repo("beta")
	bare := m.dir("bare")
	m.write("beta/.serena/project.yml", "project_name: second")
	m.write("home/.serena/serena_config.yml", "projects:\n- "+beta)
	ask := func(dir, command string, moved ...string) Plan {
		w := m.wish(dir, "serena start-mcp-server "+command)
		if len(moved) > 0 {
			w.Moved, w.Project = true, moved[0]
		}
		return planned(t, asker(nil), w)
	}
	none := ask(bare, "")
	if none.Alone != "" || none.Spec.Project != "" || !none.Moves || !slices.Contains(none.Facts, "project none") {
		t.Errorf("%+v", none)
	}
	for _, test := range []struct {
		what      string
		got, want Plan
	}{
		{"another folder", ask(alpha, ""), none},
		{"a folder that is none of a project", ask(bare, "--project-from-cwd"), none},
		{"one that was removed", ask(m.path("gone"), ""), none},
		{"no project again", ask(alpha, "--project-from-cwd", ""), none},
		{"by path", ask(bare, "", alpha), ask(alpha, "--project-from-cwd")},
		{"by relative path", ask(bare, "", "../alpha"), ask(alpha, "--project-from-cwd")},
		{"by name", ask(bare, "", "second"), ask(beta, "--project-from-cwd")},
		{"from another project", ask(alpha, "--project-from-cwd", beta), ask(beta, "--project-from-cwd")},
		{"by name at its start", ask(bare, "--project second"), ask(beta, "--project-from-cwd")},
		{"of a directory at its start", ask(m.top, "--project alpha"), ask(alpha, "--project-from-cwd")},
		{"in a context of one project", ask(bare, "--context ide", alpha), ask(alpha, "--context ide --project-from-cwd")},
	} {
		if test.got.Key != test.want.Key || test.got.Key == "" {
			t.Errorf("%s: %q, want %q", test.what, test.got.Facts, test.want.Facts)
		}
	}
	if p := ask(alpha, "--project-from-cwd --context ide"); p.Alone != "" || !p.Moves {
		t.Errorf("%+v", p)
	}
	for _, project := range []string{m.path("gone"), "none", "~", "alpha/file"} {
		if p := ask(bare, "", project); p.Alone == "" || p.Key != "" {
			t.Errorf("%s: %+v", project, p)
		}
	}
	// Where a name may be that of a project that is kept elsewhere, it is not taken for a
	// directory.
	m.dir("bare/third")
	m.dir("unknown")
	m.write("home/.serena/serena_config.yml", "projects:\n- "+m.path("unknown"))
	if p := ask(bare, "", "third"); !strings.Contains(p.Alone, "may be that of one whose settings cannot be read") {
		t.Errorf("%+v", p)
	}
}

func TestWishesThatMakeNoSense(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	for want, w := range map[string]Request{
		"the working directory cannot be told":                                {Dir: "alpha", Command: strings.Fields(fromCwd)},
		"removed: start the client":                                           {Command: strings.Fields(fromCwd)},
		"there is no directory " + m.path("gone"):                             m.wish(m.path("gone"), fromCwd),
		"directory " + m.path("gone") + ": the working directory was removed": m.wish(m.path("gone"), "serena start-mcp-server --context ide --project ."),
		"there is no program serena where the client would find it": func() Request {
			w := m.wish(repo, fromCwd)
			w.Env = []string{"HOME=" + m.home, "USERPROFILE=" + m.home, "PATH=" + repo}
			return w
		}(),
		"there is no program ./serena where": m.wish(repo, "./"+fromCwd),
	} {
		p, err := asker(nil).Plan(t.Context(), w)
		var input *InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), want) || p.Key != "" {
			t.Errorf("%q: %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := asker(nil).Plan(ctx, m.wish(repo, fromCwd)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestASpec(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha {port}")
	a := asker(func(o *PlannerOptions) {
		o.Environment = func(context.Context, ...string) []string {
			return []string{"GOFLAGS=ours", "PATH=/ours", "TERM=ours", "RUSTFLAGS=ours"}
		}
	})
	w := m.wish(repo, fromCwd+" --mode {project} --transport stdio --agent-interface=tools --open-web-dashboard true", "GOFLAGS={port}", "TERM=x", "NODE_CHANNEL_FD=7", "CI=")
	p := planned(t, a, w)
	tmpl := p.Spec.Template
	serena := filepath.Join(m.bin, "serena"+exe)
	want := []string{"--mode", "{project}", "--agent-interface", "tools", "--context", "claude-code"}
	if !slices.Equal(tmpl.Command, []string{serena, subcommand}) || !slices.Equal(tmpl.Arguments, want) {
		t.Errorf("%q %q", tmpl.Command, tmpl.Arguments)
	}
	if !tmpl.Literal || tmpl.Name != monitor.KindSerena || p.Spec.Project != repo || p.Spec.Lifetime != launch.Shared || tmpl.Directory != "" {
		t.Errorf("%+v", p.Spec)
	}
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	if e := tmpl.Env; e["GOFLAGS"] != "{port}" || e["PATH"] != m.bin || e[home] != m.home || len(e) != 5 {
		t.Errorf("%q", e)
	}
	if ci, ok := tmpl.Env["CI"]; !ok || ci != "" {
		t.Error("an empty variable is one")
	}
	if !slices.Equal(tmpl.Unset, []string{"GOFLAGS", "RUSTFLAGS"}) {
		t.Errorf("%q", tmpl.Unset)
	}
	if p.Context != "claude-code" || !slices.Equal(p.Modes, []string{"{project}"}) {
		t.Errorf("%+v", p)
	}
}

func TestFactsHoldNoSecrets(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	command := "uvx --index https://me:s3cret@example.test/ --from serena-agent serena start-mcp-server --project-from-cwd --context ide"
	p := planned(t, asker(nil), m.wish(repo, command, "UV_INDEX_X_PASSWORD=s3cret", "GOFLAGS=\x1b]0;"))
	facts := strings.Join(p.Facts, "\n")
	for _, want := range []string{"project " + repo, "Serena 2.1.0, started with ", `"--context" "ide"`, "PATH finds gopls at ", "variable UV_INDEX_X_PASSWORD", "SERENA_HOME " + filepath.Join(m.home, ".serena"), "https://…@example.test"} {
		if !strings.Contains(facts, want) {
			t.Errorf("%q is not in\n%s", want, facts)
		}
	}
	if strings.Contains(facts, "s3cret") || strings.Contains(facts, "\x1b") {
		t.Error(facts)
	}
}

// TestSilentFiles: what lies on a network that has gone keeps nobody waiting.
func TestSilentFiles(t *testing.T) {
	a := asker(nil)
	gone := make(chan struct{})
	defer close(gone)
	a.looks = project.Looks{Limit: time.Millisecond, Before: func(string) { <-gone }}
	m := newMachine(t)
	p := planned(t, a, m.wish(m.repo("alpha"), fromCwd))
	if !strings.Contains(p.Alone, "did not answer within 2 s") {
		t.Error(p.Alone)
	}
}

func TestForProject(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	serena := filepath.Join(m.bin, "serena"+exe)
	ours := func(o *PlannerOptions) {
		o.Finder = taker{version: "2.1.0", command: []string{serena}}
		o.Environment = func(context.Context, ...string) []string { return m.env }
	}
	usual := launch.Template{Name: monitor.KindSerena, Arguments: []string{"--context", "desktop-app", "--agent-interface", "tools", "--project", "{project}"}}
	p, err := asker(ours).ForProject(t.Context(), repo, usual)
	if err != nil || p.Alone != "" || p.Context != "claude-code" || p.Spec.Project != repo {
		t.Fatalf("%+v, %v", p, err)
	}
	if want := []string{"--agent-interface", "tools", "--context", "claude-code"}; !slices.Equal(p.Spec.Template.Arguments, want) || !slices.Equal(p.Spec.Template.Command, []string{serena, subcommand}) {
		t.Errorf("%+v", p.Spec.Template)
	}
	// A client over stdio that would run the same shares with it.
	q := planned(t, asker(ours), m.wish(repo, "serena start-mcp-server --agent-interface tools --context claude-code --project "+repo))
	if p.Key != q.Key {
		t.Errorf("%q\n%q", p.Facts, q.Facts)
	}
	for name, change := range map[string]func(*launch.Template){
		"context": func(u *launch.Template) { u.Arguments = []string{"--agent-interface", "tools", "--context", "ide"} },
		"mode":    func(u *launch.Template) { u.Arguments = []string{"--mode", "{project}/mode.yml"} },
		"command": func(u *launch.Template) {
			u.Command = []string{filepath.Join(m.bin, "uvx"+exe), "serena", subcommand, "--log-level", "INFO"}
		},
	} {
		u := usual
		change(&u)
		q, err := asker(ours).ForProject(t.Context(), repo, u)
		if err != nil || q.Alone != "" || q.Key == p.Key {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
		switch tm := q.Spec.Template; name {
		case "mode":
			if tm.Arguments[1] != repo+"/mode.yml" {
				t.Errorf("%+v", tm)
			}
		case "command":
			if !slices.Equal(tm.Command, append(slices.Clone(u.Command[:2]), subcommand)) || tm.Arguments[1] != "INFO" {
				t.Errorf("%+v", tm)
			}
		}
	}
	for want, change := range map[string]func(*launch.Template){
		"lamplighter does not know": func(u *launch.Template) { u.Arguments = []string{"--new"} },
	} {
		u := usual
		change(&u)
		if q, err := asker(ours).ForProject(t.Context(), repo, u); err != nil || !strings.Contains(q.Alone, want) {
			t.Errorf("%s: %+v, %v", want, q, err)
		}
	}
	for _, dir := range []string{"", "alpha", m.path("gone"), m.path("bin/serena" + exe), repo + "\x00", filepath.VolumeName(repo) + string(filepath.Separator), m.home} {
		var input *InputError
		if _, err := asker(ours).ForProject(t.Context(), dir, usual); !errors.As(err, &input) {
			t.Errorf("%q: %v", dir, err)
		}
	}
	var none *launch.NotFoundError
	broken := asker(func(o *PlannerOptions) { o.Finder = taker{why: "It is nowhere."} })
	if _, err := broken.ForProject(t.Context(), repo, usual); !errors.As(err, &none) {
		t.Error(err)
	}
}

// Who names no project in the address has none, or the one that is activated, by the
// command of the settings; and which one the roots of a client say.
func TestForAddress(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	m.repo("beta")
	sub := m.dir("alpha/sub")
	m.dir("bare")
	ours := func(o *PlannerOptions) {
		o.Finder = taker{version: "2.1.0", command: []string{filepath.Join(m.bin, "serena"+exe)}}
		o.Environment = func(context.Context, ...string) []string { return m.env }
	}
	a := asker(ours)
	usual := launch.Template{Name: monitor.KindSerena, Arguments: []string{"--context", "desktop-app", "--project", "{project}"}}
	none, err := a.ForAddress(t.Context(), "", usual)
	one, err2 := a.ForAddress(t.Context(), repo, usual)
	if err != nil || err2 != nil || none.Spec.Project != "" || one.Spec.Project != repo || !none.Moves || !one.Moves || one.Context != "desktop-app" || one.Key == none.Key {
		t.Fatalf("%+v, %v; %+v, %v", none, err, one, err2)
	}
	// A client over stdio that would run the same shares with it.
	if q := planned(t, a, m.wish(repo, "serena start-mcp-server --context desktop-app --project-from-cwd")); q.Key != one.Key {
		t.Errorf("%q\n%q", one.Facts, q.Facts)
	}
	if q := planned(t, a, m.wish(m.path("bare"), "serena start-mcp-server --context desktop-app")); q.Key != none.Key {
		t.Errorf("%q\n%q", none.Facts, q.Facts)
	}
	usual.Arguments = []string{"--mode", "{project}/mode.yml"}
	if p, err := a.ForAddress(t.Context(), "", usual); err != nil || !strings.Contains(p.Alone, "/mcp?project=DIR") {
		t.Errorf("%+v, %v", p, err)
	}
	var input *InputError
	if _, err := a.ForAddress(t.Context(), "./alpha", usual); !errors.As(err, &input) {
		t.Error(err)
	}
	at := func(names ...string) (list []string) {
		for _, name := range names {
			list = append(list, (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(m.path(name)), "/")}).String())
		}
		return list
	}
	for _, test := range []struct {
		roots []string
		want  string
	}{
		{nil, ""}, {at("alpha"), repo}, {at("alpha/sub"), repo}, {at("alpha", "bare"), repo}, {at("alpha", "beta"), ""}, {at("bare"), ""}, {at("gone"), ""},
		{[]string{"https://example.test/alpha", "alpha", "", "file://elsewhere" + sub, "file:alpha", "file:///\x00"}, ""},
	} {
		if got := a.Root(t.Context(), test.roots); got != test.want {
			t.Errorf("%q: %q, want %q", test.roots, got, test.want)
		}
	}
	if pathOf("linux", "file:///a%20b") != filepath.FromSlash("/a b") && runtime.GOOS != "windows" {
		t.Error("its path is written with escapes")
	}
}

func TestFingerprints(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	mode := m.file("modes/mine.yml")
	a := asker(nil)
	now := planned(t, a, m.wish(repo, fromCwd+" --mode "+mode)).Fingerprint
	seen := []string{now()}
	if now() != seen[0] {
		t.Error("another one although nothing has changed")
	}
	for _, name := range []string{
		"home/.serena/serena_config.yml", "home/.serena/contexts/x.yml", "home/.serena/modes/x.yml", "home/.serena/prompt_templates/x.yml",
		"alpha/.serena/project.yml", "alpha/.serena/project.local.yml", "alpha/.serena/memories/x.md", "modes/mine.yml",
	} {
		for _, text := range []string{"a", "b"} {
			m.write(name, text)
			sum := now()
			if name == "alpha/.serena/memories/x.md" && text == "b" {
				continue // only names of memories are told
			}
			if slices.Contains(seen, sum) {
				t.Errorf("%s: the same", name)
			}
			seen = append(seen, sum)
		}
	}
	// An upgrade may answer otherwise, and its key is another one for new clients only.
	m.write("bin/serena"+exe, "#!/bin/sh\n# another version\n")
	if sum := now(); slices.Contains(seen, sum) {
		t.Error("another program: the same")
	} else {
		seen = append(seen, sum)
	}
	m.write("alpha/main.go", "package main")
	if now() != seen[len(seen)-1] {
		t.Error("the project's own files do not count")
	}
	gone := make(chan struct{})
	defer close(gone)
	a.looks = project.Looks{Limit: time.Millisecond, Before: func(string) { <-gone }}
	if first := now(); first == now() {
		t.Error("what is not known is never the same")
	}
}
