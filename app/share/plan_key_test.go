package share

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTwoRepositoriesNeverShare, however they lie to each other.
func TestTwoRepositoriesNeverShare(t *testing.T) {
	m := newMachine(t)
	m.repo("alpha")
	m.repo("beta")
	m.repo("beta/vendor/gamma")
	m.file("alpha/.serena/project.yml")
	m.file("alpha/worktrees/one/.git") // of Git: a file
	m.file("alpha/worktrees/two/.git")
	m.file("alpha/sub/project/.serena/project.yml")
	m.dir("alpha/deep/below")
	m.dir("alpha/worktrees/one/deep")
	// A directory of that name is no project.
	m.dir("beta/trap/.serena/project.yml")
	a := asker(nil)
	roots := map[string]string{ // working directory → root
		"alpha": "alpha", "alpha/deep/below": "alpha", "alpha/worktrees": "alpha",
		"alpha/worktrees/one": "alpha/worktrees/one", "alpha/worktrees/one/deep": "alpha/worktrees/one", "alpha/worktrees/two": "alpha/worktrees/two",
		"alpha/sub/project": "alpha/sub/project", "alpha/sub": "alpha",
		"beta": "beta", "beta/trap": "beta", "beta/vendor": "beta", "beta/vendor/gamma": "beta/vendor/gamma",
	}
	keys := map[string]string{} // root → key
	for dir, root := range roots {
		p := planned(t, a, m.wish(m.path(dir), fromCwd))
		if p.Alone != "" || p.Spec.Project != m.path(root) {
			t.Fatalf("%s: %s, %s", dir, p.Spec.Project, p.Alone)
		}
		if key, ok := keys[root]; ok && key != p.Key {
			t.Errorf("%s does not share with the others of %s", dir, root)
		}
		keys[root] = p.Key
	}
	distinct := map[string]bool{}
	for _, key := range keys {
		distinct[key] = true
	}
	if len(distinct) != 6 || len(keys) != 6 {
		t.Errorf("%d keys for %d projects", len(distinct), len(keys))
	}
}

func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		m := newMachine(t)
		m.program("bin2/serena")
		a := asker(nil)
		one := planned(t, a, m.wish(m.repo("alpha"), fromCwd))
		if two := planned(t, a, m.wish(m.path("alpha"), m.path("bin2/serena.exe")+strings.TrimPrefix(fromCwd, "serena"))); one.Key == two.Key {
			t.Error("two programs, one key")
		}
		return
	}
	m := newMachine(t)
	repo := m.repo("alpha")
	m.program("tools/serena")
	m.program("tools/busy")
	m.link("tools", "linked-tools")
	m.dir("multi")
	m.link("tools/busy", "multi/serena")
	a := asker(nil)
	args := strings.TrimPrefix(fromCwd, "serena")
	of := func(program string) string { return planned(t, a, m.wish(repo, program+args)).Key }
	key := of(m.path("tools/serena"))
	if of(m.path("linked-tools/serena")) != key {
		t.Error("a link to its directory leads to the same program")
	}
	for _, other := range []string{"bin/serena", "multi/serena"} {
		if of(m.path(other)) == key {
			t.Errorf("%s is another program", other)
		}
	}
	if of("../tools/serena") != key {
		t.Error("a relative path is meant from the working directory")
	}
	// The interpreter of an environment is a link, and still another one.
	m.dir("venv/bin")
	m.link("bin/python3", "venv/bin/python3")
	m.program("venv/bin/serena")
	script := " " + m.path("tools/serena") + args
	if of2 := planned(t, a, m.wish(repo, m.path("venv/bin/python3")+script)).Key; of2 == planned(t, a, m.wish(repo, m.path("bin/python3")+script)).Key {
		t.Error("two environments, one key")
	}
	// A PATH with another directory first, that has nothing of it, is harmless.
	w := m.wish(repo, fromCwd)
	before := planned(t, a, w)
	w.Env[0] = "PATH=" + m.dir("empty") + ":" + m.bin + ":" + m.bin + "/:relative:"
	if after := planned(t, a, w); after.Key != before.Key {
		t.Errorf("%q\n%q", before.Facts, after.Facts)
	}
	w.Env[0] = "PATH=" + filepath.Join(m.top, "tools") + ":" + m.bin
	if after := planned(t, a, w); after.Key == before.Key {
		t.Error("PATH finds another serena")
	}
}

// wishes draws what a client may run, so that the same choices come often.
type choices struct {
	project, context, extra, cwd, path, home int
	env                                      []string
	joined, doubled, noise                   bool
}

func drawChoices(t *rapid.T, label string) choices {
	n := func(what string, most int) int { return rapid.IntRange(0, most).Draw(t, label+what) }
	return choices{
		project: n("project", 1), context: n("context", 1), extra: n("extra", 2), cwd: n("cwd", 1), path: n("path", 1), home: n("home", 1),
		env:    rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"GOFLAGS=a", "RUSTFLAGS=b", "LANG=C", "SERENA_X=1"}), 0, 4, rapid.ID).Draw(t, label+"env"),
		joined: rapid.Bool().Draw(t, label+"joined"), doubled: rapid.Bool().Draw(t, label+"doubled"), noise: rapid.Bool().Draw(t, label+"noise"),
	}
}

// same reports whether the servers would be the same ones.
func (c choices) same(d choices) bool {
	x, y := slices.Sorted(slices.Values(c.env)), slices.Sorted(slices.Values(d.env))
	return c.project == d.project && c.context == d.context && c.extra == d.extra && c.path == d.path && c.home == d.home && slices.Equal(x, y)
}

func (c choices) wish(m *planMachine) Request {
	repo := m.path([]string{"alpha", "beta"}[c.project])
	w := Request{Dir: repo, Command: []string{"serena", subcommand}}
	option := func(name, value string) {
		if c.joined {
			w.Command = append(w.Command, name+"="+value)
		} else {
			w.Command = append(w.Command, name, value)
		}
	}
	if c.doubled {
		option("--transport", "stdio")
		option("--port", "1234")
	}
	if c.cwd == 0 {
		w.Command = append(w.Command, "--project-from-cwd")
	} else {
		w.Dir = m.top
		option("--project", repo)
	}
	option("--context", []string{"ide", "claude-code"}[c.context])
	switch c.extra {
	case 1:
		option("--mode", "planning")
	case 2:
		option("--agent-interface", "tools")
	}
	w.Env = []string{
		"HOME=" + m.home, "USERPROFILE=" + m.home,
		"PATH=" + []string{m.bin, m.path("gopath") + string(filepath.ListSeparator) + m.bin}[c.path],
		"SERENA_HOME=" + []string{"", m.path("serena-home")}[c.home],
	}
	if c.noise {
		w.Env = append([]string{"TERM=x", "SSH_TTY=/dev/1", "LC_TERMINAL=iTerm", "NODE_CHANNEL_FD=3", "no equals sign", "=x"}, w.Env...)
		slices.Reverse(c.env)
	}
	w.Env = append(w.Env, c.env...)
	return w
}

// TestKeys: what would be the same server has the same key, and nothing else has.
func TestKeys(t *testing.T) {
	m := newMachine(t)
	m.repo("alpha")
	m.repo("beta")
	m.program("gopath/gopls")
	m.dir("serena-home")
	a := asker(nil)
	rapid.Check(t, func(t *rapid.T) {
		c := drawChoices(t, "")
		d := drawChoices(t, "other ")
		if rapid.Bool().Draw(t, "alike") {
			env := d
			d = c
			d.cwd, d.joined, d.doubled, d.noise, d.env = env.cwd, env.joined, env.doubled, env.noise, slices.Clone(c.env)
		}
		same := c.same(d)
		w, v := c.wish(m), d.wish(m)
		p, err := a.Plan(t.Context(), w)
		q, err2 := a.Plan(t.Context(), v)
		if err != nil || err2 != nil || p.Alone != "" || q.Alone != "" {
			t.Fatalf("%v, %v, %q, %q", err, err2, p.Alone, q.Alone)
		}
		if (p.Key == q.Key) != same {
			t.Fatalf("%+v\n%+v\nshould be the same: %v\n%q\n%q", w, v, same, p.Facts, q.Facts)
		}
	})
}

// TestListsAreToldApart: no two lists of texts make the same key.
func TestListsAreToldApart(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", " ", `"`, `" "`, `\`, `\xff`, "\xff", "\xfe", "\ufffd", "\n", `"] ["`, `""`})
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(texts, 0, 4), 2, 2).Draw(t, "lists")
		key := func(list []string) string {
			w := wish{program: []string{"serena"}, kept: list}
			sum, _ := w.key()
			return sum
		}
		if (key(lists[0]) == key(lists[1])) != slices.Equal(lists[0], lists[1]) {
			t.Fatalf("%q", lists)
		}
	})
}

// FuzzCommands: whatever a client would run, nothing panics, and nothing is
// shared with another project than the client means.
func FuzzCommands(f *testing.F) {
	for _, seed := range []string{
		fromCwd, "uvx --from x serena start-mcp-server --context ide --project .", "cmd /c serena", "python3 -m serena.cli start-mcp-server alpha",
		"serena start-mcp-server --context=ide -- alpha", "uv run --directory / serena start-mcp-server --project-from-cwd --context vscode", "serena", "",
	} {
		f.Add(strings.ReplaceAll(seed, " ", "\n"), "GOFLAGS=x\nSERENA_HOME=/\nPATH=")
	}
	m := newMachine(f)
	repo := m.repo("alpha")
	other := m.repo("beta")
	a := asker(nil)
	f.Fuzz(func(t *testing.T, command, env string) {
		w := Request{Dir: repo, Command: strings.Split(command, "\n"), Env: append(strings.Split(env, "\n"), m.env...)}
		p, err := a.Plan(t.Context(), w)
		if err != nil {
			return
		}
		if (p.Alone == "") != (p.Key != "") {
			t.Fatalf("%+v", p)
		}
		if p.Alone != "" {
			return
		}
		if !p.Moves || !filepath.IsAbs(p.Spec.Template.Command[0]) {
			t.Fatalf("%+v", p)
		}
		if p.Fingerprint() == "" {
			t.Fatal("no fingerprint")
		}
		for _, arg := range p.Spec.Template.Arguments {
			if arg == "--project" || arg == "--transport" || arg == "--project-from-cwd" {
				// Only as the value of another option.
				if i := slices.Index(p.Spec.Template.Arguments, arg); i%2 == 0 {
					t.Fatalf("%q", p.Spec.Template.Arguments)
				}
			}
		}
		w.Dir = other
		q, err := a.Plan(t.Context(), w)
		if err == nil && q.Key == p.Key && q.Spec.Project != p.Spec.Project {
			t.Fatalf("%q shares two projects", w.Command)
		}
	})
}
