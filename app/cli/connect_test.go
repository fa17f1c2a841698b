package cli

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// withConnect puts a lamplighter-connect beside the program, and returns its path.
func (d *desktop) withConnect(t *testing.T) string {
	t.Helper()
	name := "lamplighter-connect"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	dir := t.TempDir()
	d.Self = filepath.Join(dir, "lamplighter")
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConnect(t *testing.T) {
	for name, test := range map[string]struct{ args, want []string }{
		"alone": {
			[]string{"--", "serena", "start-mcp-server", "--context", "ide"},
			[]string{"--", "serena", "start-mcp-server", "--context", "ide"},
		},
		"flags": {
			[]string{"--web-dashboard-global-port", "3000", "--or-direct", "--web-dashboard-global", "--", "uvx", "--from", "serena-agent", "serena"},
			[]string{"--or-direct", "--web-dashboard-global=true", "--web-dashboard-global-port=3000", "--", "uvx", "--from", "serena-agent", "serena"},
		},
		"without --": {
			[]string{"--or-direct", "serena", "start-mcp-server", "--context", "ide", "--or-direct"},
			[]string{"--or-direct", "--", "serena", "start-mcp-server", "--context", "ide", "--or-direct"},
		},
		"-- further behind": {[]string{"x", "--", "serena"}, []string{"--", "x", "--", "serena"}},
		"a command with --": {[]string{"--", "a", "--", "--or-direct"}, []string{"--", "a", "--", "--or-direct"}},
		"empty arguments":   {[]string{"--", "a", "", "b c"}, []string{"--", "a", "", "b c"}},
	} {
		d := newDesktop(t)
		path := d.withConnect(t)
		var ran [][]string
		d.become = func(path string, args []string) (int, error) {
			ran = append(ran, append([]string{path}, args...))
			return 0, nil
		}
		status := d.runs(t, append([]string{"connect"}, test.args...)...)
		want := append([]string{path, "lamplighter-connect", "connect"}, test.want...)
		if status != statusFine || len(ran) != 1 || !slices.Equal(ran[0], want) || d.out.String() != "" || d.err.String() != "" {
			t.Errorf("%s: status %d, ran %q, said %q %q", name, status, ran, d.out.String(), d.err.String())
		}
	}
}

func TestConnectRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"nothing":          {nil, "takes the command of a server, behind --"},
		"no command":       {[]string{"--"}, "takes the command of a server, behind --"},
		"an empty command": {[]string{"--", ""}, "takes the command of a server, behind --"},
		"an unknown flag":  {[]string{"--context", "ide", "--", "serena"}, "unknown flag: --context"},
		"a bad port":       {[]string{"--web-dashboard-global-port=1", "--", "serena"}, "is not a port from 1024 to 65535"},
		"0 minutes":        {[]string{"--idle-shutdown-minutes=0", "--", "serena"}, "write none to switch it off"},
	} {
		d := newDesktop(t)
		d.withConnect(t)
		d.become = func(string, []string) (int, error) { t.Errorf("%s: it runs", name); return 0, nil }
		if status := d.runs(t, append([]string{"connect"}, test.args...)...); status != statusUsage || !strings.Contains(d.err.String(), test.want) || d.out.String() != "" {
			t.Errorf("%s: status %d, said %q %q", name, status, d.out.String(), d.err.String())
		}
	}
}

func TestConnectFails(t *testing.T) {
	command := []string{"connect", "--", "serena"}
	t.Run("its status is ours", func(t *testing.T) {
		d := newDesktop(t)
		d.withConnect(t)
		d.become = func(string, []string) (int, error) { return statusUnreachable, nil }
		if status := d.runs(t, command...); status != statusUnreachable || d.err.String() != "" {
			t.Errorf("status %d, said %q", status, d.err.String())
		}
	})
	t.Run("it cannot be run", func(t *testing.T) {
		d := newDesktop(t)
		path := d.withConnect(t)
		d.become = func(string, []string) (int, error) { return 1, errors.New("exec format error") }
		status := d.runs(t, command...)
		if status != statusFailed {
			t.Errorf("status %d", status)
		}
		apptest.Contains(t, d.err.String(), path+" cannot be run: exec format error", "lamplighter doctor")
	})
	t.Run("it is missing", func(t *testing.T) {
		d := newDesktop(t)
		path := d.withConnect(t)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if status := d.runs(t, command...); status != statusFailed {
			t.Errorf("status %d", status)
		}
		apptest.Contains(t, d.err.String(), "there is no "+path, "install both again")
	})
	t.Run("nobody knows where we are", func(t *testing.T) {
		d := newDesktop(t)
		if status := d.runs(t, command...); status != statusFailed {
			t.Errorf("status %d", status)
		}
		apptest.Contains(t, d.err.String(), "name that program itself in your client's settings")
	})
}
