package stop

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/programtest"
)

// docker starts a program that is docker by its name and its arguments: a shell under
// its name, which reads the script that is called like the subcommand.
func (g *group) docker(options ...string) (id monitor.Identity, path string) {
	g.t.Helper()
	path = programtest.Shell(g.t, "docker", "run", "echo ready\nwhile :; do sleep 1000 & wait; done\n")
	id, out := g.start(&exec.Cmd{
		Path: path, Dir: filepath.Dir(path), Env: os.Environ(),
		Args: slices.Concat([]string{"docker", "run", "-i", "--rm"}, options, []string{"acme/notes", "serve"}),
	})
	if !out.Scan() {
		g.t.Fatal("docker says nothing")
	}
	return id, path
}

// A container is no process below the program that has started it: it is ended by its
// name, while that program still has it, or it is said that it may run on.
func TestContainers(t *testing.T) {
	const onward = "The container that docker runs may run on; look with: docker ps."
	idFile := filepath.Join(t.TempDir(), "id")
	if err := os.WriteFile(idFile, []byte("0123abcd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options []string
		fails   error
		want    string // what is run
		onward  bool
	}{
		"named":          {[]string{"--name", "notes-1"}, nil, "stop --time 2 notes-1", false},
		"by a file":      {[]string{"--cidfile=" + idFile}, nil, "stop --time 2 0123abcd", false},
		"without a name": {nil, nil, "", true},
		"no such file":   {[]string{"--cidfile", idFile + "-none"}, nil, "", true},
		"a pipe":         {[]string{"--cidfile", pipe}, nil, "", true}, // nobody writes to it
		"no name at all": {[]string{"--name", "-x"}, nil, "", true},
		"it cannot be":   {[]string{"--name", "notes-1"}, errors.New("no such container"), "stop --time 2 notes-1", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t)
			id, docker := g.docker(c.options...)
			container := g.shell("echo ready; exec sleep 1000")
			ran := ""
			l := g.ladder(Options{Run: func(_ context.Context, command []string) error {
				if ran = strings.Join(command[1:], " "); command[0] != docker || !lives(id) {
					t.Errorf("%q, while docker runs: %v", command, lives(id))
				}
				if c.fails == nil {
					signalTo(t, container.PID, syscall.SIGKILL)
				}
				return c.fails
			}})
			dry, err := l.Stop(t.Context(), generic(id), Order{DryRun: true})
			if err != nil || ran != "" || strings.Contains(dry.Detail, onward) != (c.want == "") || !strings.Contains(dry.Detail, c.want) || dry.FreedBytes != 0 {
				t.Errorf("ran %q: %+v, %v", ran, dry, err)
			}
			r, err := l.Stop(t.Context(), generic(id), Order{})
			if err != nil || lives(id) || ran != c.want || strings.Contains(r.Detail, onward) != c.onward || r.FreedBytes != 0 || strings.Contains(r.Detail, "given back") {
				t.Errorf("ran %q: %+v, %v", ran, r, err)
			}
			ended := slices.IndexFunc(r.Steps, func(e monitor.Event) bool { return e.Kind == monitor.EventEnded })
			if ended < 0 || strings.Contains(r.Steps[ended].Detail, "may run on") != c.onward {
				t.Errorf("%+v", r.Steps)
			}
		})
	}
}
