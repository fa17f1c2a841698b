package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/daemon/daemontest"
	"lamplighter/app/session"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// onWorkspace are servers on a directory, below it, and elsewhere.
func onWorkspace(dir string) ([]session.Session, []*monitor.Instance) {
	client := monitor.Client{Identity: monitor.Identity{PID: 7}, Name: "Codex"}
	alive := monitor.Client{Identity: monitor.Identity{PID: os.Getpid()}, Name: "Codex"}
	gone := monitor.Client{Identity: monitor.Identity{PID: 1 << 30}, Name: "Claude Code"}
	sessions := []session.Session{
		{ID: 1, State: session.StateRunning, ProjectPath: dir, MCPURL: "http://127.0.0.1:1/mcp"},
		{ID: 2, State: session.StateRunning, ProjectPath: filepath.Join(dir, "part"), MCPURL: "http://127.0.0.1:2/mcp", AskedBy: &gone},
		{ID: 5, State: session.StateRunning, ProjectPath: dir, MCPURL: "http://127.0.0.1:5/mcp", AskedBy: &alive},
		{ID: 6, State: session.StateRunning, ProjectPath: dir, MCPURL: "http://127.0.0.1:6/mcp"},
		{ID: 3, State: session.StateRunning, ProjectPath: dir + "-other", MCPURL: "http://127.0.0.1:3/mcp"},
		{State: session.StateStarting, ProjectPath: dir},
		{ID: 4711, State: session.StateRunning, ProjectPath: filepath.Dir(dir), MCPURL: "http://127.0.0.1:40000/mcp", DashboardPort: 24282},
	}
	instance := func(pid int, root string, state monitor.State, sharing *monitor.Sharing) monitor.Instance {
		return monitor.Instance{
			Identity: monitor.Identity{PID: pid, Start: 1}, Kind: monitor.KindSerena, ProjectName: "one", ProjectRoot: root, State: state, Sharing: sharing,
		}
	}
	instances := []*monitor.Instance{
		new(instance(11, dir, monitor.StateProject, &monitor.Sharing{})),
		new(instance(12, dir, monitor.StateProject, &monitor.Sharing{Clients: []monitor.Client{client}})),
		new(instance(13, dir, monitor.StateProject, nil)),
		new(instance(14, dir, monitor.StateParked, &monitor.Sharing{})),
		new(instance(15, dir+"-other", monitor.StateProject, &monitor.Sharing{})),
		new(instance(16, dir, monitor.StateProject, &monitor.Sharing{Alone: "it is", Clients: []monitor.Client{client}})),
	}
	return sessions, instances
}

// servers are both kinds, over the same fakes.
func servers(t *testing.T, dir string) (map[string]workspace.Servers, *daemontest.Sessions, *desktop) {
	t.Helper()
	sessions, instances := onWorkspace(dir)
	d, m := sessionDesktopWith(t, sessions, instances)
	snapshot := func() *monitor.Snapshot { return &monitor.Snapshot{Instances: instances} }
	return map[string]workspace.Servers{
		"ours":   ourServers{m, snapshot, d.background},
		"theirs": TheirServers{d.Places().ControlSocket},
	}, m, d
}

func sessionDesktopWith(t *testing.T, sessions []session.Session, instances []*monitor.Instance) (*desktop, *daemontest.Sessions) {
	t.Helper()
	m := &daemontest.Sessions{Status: session.Terminated, Listed: sessions}
	d := newDesktop(t)
	d.sessions = m
	d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: instances}})
	return d, m
}

func TestWorkspaceServersStart(t *testing.T) {
	dir := t.TempDir()
	all, m, _ := servers(t, dir)
	for name, s := range all {
		m.Asked = nil
		m.Err = nil
		server, err := s.Start(t.Context(), dir)
		if err != nil || server.SessionID != 4711 || len(m.Asked) != 1 || m.Asked[0].ProjectPath != dir {
			t.Errorf("%s: %+v, %v, %+v", name, server, err, m.Asked)
		}
		if name == "theirs" && (server.MCPURL != "http://127.0.0.1:40000/mcp" || server.DashboardPort != 24282) {
			t.Errorf("%+v", server)
		}
		m.Err = &session.TooMany{Live: 3, Limit: 3}
		if _, err := s.Start(t.Context(), dir); !errors.Is(err, workspace.ErrNoServer) || !strings.Contains(err.Error(), "the limit of 3") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWorkspaceServersEnd(t *testing.T) {
	dir := t.TempDir()
	for name := range map[string]int{"ours": 0, "theirs": 0} {
		all, m, d := servers(t, dir)
		if err := all[name].End(t.Context(), dir, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(m.Released, []int{1, 2}) {
			t.Errorf("%s: released %v", name, m.Released)
		}
		if want := []string{monitor.Identity{PID: 11, Start: 1}.String()}; !slices.Equal(d.background.IDs, want) {
			t.Errorf("%s: ended %q", name, d.background.IDs)
		}
		for _, order := range d.background.Orders {
			if order.Force {
				t.Errorf("%s: by force", name)
			}
		}
	}
}

// What cannot be ended is named.
func TestWorkspaceServersLeft(t *testing.T) {
	dir := t.TempDir()
	for name := range map[string]int{"ours": 0, "theirs": 0} {
		sessions, instances := onWorkspace(dir)
		instances[0].ProjectName = "never"
		d, m := sessionDesktopWith(t, sessions, instances)
		m.Refusal = errors.New("it still runs")
		all := map[string]workspace.Servers{
			"ours":   ourServers{m, func() *monitor.Snapshot { return &monitor.Snapshot{Instances: instances} }, d.background},
			"theirs": TheirServers{d.Places().ControlSocket},
		}
		err := all[name].End(t.Context(), dir, 1)
		if err == nil {
			t.Fatal(name)
		}
		for _, want := range []string{"session 1 ", "session 2 ", "11 - never"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestWorkspaceServersWithoutBackground(t *testing.T) {
	s := TheirServers{newDesktop(t).Places().ControlSocket}
	if _, err := s.Start(t.Context(), t.TempDir()); !errors.Is(err, workspace.ErrNoServer) || !strings.Contains(err.Error(), "start lamplighter") {
		t.Error(err)
	}
	if err := s.End(t.Context(), t.TempDir(), 0); err != nil {
		t.Error(err)
	}
}

func TestOnDirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil || runtime.GOOS == "windows" { // where not everybody may, and Wine's lead nowhere
		link = dir
	}
	on := onDirectory(link)
	for path, want := range map[string]bool{
		link: true, dir: true, filepath.Join(dir, "a", "b"): true, filepath.Join(link, "..a"): true,
		dir + "-other": false, filepath.Dir(dir): false, "": false, "relative": false,
	} {
		if on(path) != want {
			t.Errorf("%q: %v", path, !want)
		}
	}
}

// What a client uses, or may use, is told and not ended.
func TestWorkspaceServersOn(t *testing.T) {
	dir := t.TempDir()
	all, m, d := servers(t, dir)
	for name, s := range all {
		for _, test := range []struct {
			own  int
			idle []int
			used []int
		}{
			{1, []int{1, 2, 11}, []int{5, 6, 0, 12}},
			{0, []int{2, 11}, []int{1, 5, 6, 0, 12}},
			{5, []int{2, 5, 11}, []int{1, 6, 0, 12}},
			{workspace.AnySession, []int{1, 2, 5, 6, 11}, []int{0, 12}},
		} {
			started, err := s.On(t.Context(), dir, test.own)
			var used []int
			for _, u := range started.Used {
				used = append(used, u.PID)
				if u.Name == "" || u.How == "" {
					t.Errorf("%s: %+v", name, u)
				}
			}
			if err != nil || !slices.Equal(started.Idle, test.idle) || !slices.Equal(used, test.used) {
				t.Errorf("%s: for %d idle are %v, used are %v, %v", name, test.own, started.Idle, used, err)
			}
		}
	}
	if len(m.Released) > 0 || len(d.background.IDs) > 0 {
		t.Errorf("ended %v and %q", m.Released, d.background.IDs)
	}
	if started, err := (TheirServers{newDesktop(t).Places().ControlSocket}).On(t.Context(), dir, 1); err != nil || len(started.Idle)+len(started.Used) > 0 {
		t.Errorf("without a background process: %+v, %v", started, err)
	}
}

func TestHasGone(t *testing.T) {
	now, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		id   monitor.Identity
		gone bool
	}{
		"we":                        {now.Identity, false},
		"we, as far as is known":    {monitor.Identity{PID: os.Getpid()}, false},
		"somebody before us":        {monitor.Identity{PID: os.Getpid(), Start: now.Start - 1}, true},
		"a process that is no more": {monitor.Identity{PID: 1 << 30}, true},
	} {
		if got := hasGone(test.id); got != test.gone {
			t.Errorf("%s: %v", name, got)
		}
	}
}
