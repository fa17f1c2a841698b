//go:build unix

package launch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// withShell returns a Finder whose login shell is that, with these files in its home.
func withShell(t *testing.T, shell string, files map[string]string, change func(*FinderOptions)) (*Finder, string) {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := FinderOptions{
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "SHELL=" + shell}, Home: home,
		Limits: Limits{Shell: time.Minute}, Passwd: filepath.Join(home, "none"),
	}
	if change != nil {
		change(&o)
	}
	return NewFinder(o), home
}

func TestLoginPath(t *testing.T) {
	const add = "PATH=$PATH:/opt/mine\n"
	for _, test := range []struct {
		name, shell string
		files       map[string]string
	}{
		{"bash, files of logins", "/bin/bash", map[string]string{".bash_profile": add}},
		{"bash, files for interactive use", "/bin/bash", map[string]string{".profile": ". ~/.bashrc\n", ".bashrc": "case $- in *i*) ;; *) return;; esac\n" + add}},
		{"sh", "/bin/sh", map[string]string{".profile": add}},
		{"greets, asks and complains", "/bin/bash", map[string]string{".bash_profile": "echo Welcome; echo oops >&2; read -p 'Update? ' x; read y </dev/tty; stty sane; printf 'no newline'\n" + add}},
		{"floods", "/bin/bash", map[string]string{".bash_profile": "head -c 1000000 /dev/zero | tr '\\0' 'x'\n" + add}},
		{"starts something that has its output", "/bin/bash", map[string]string{".bash_profile": "sleep 2 &\n" + add}},
		{"fails at the end", "/bin/bash", map[string]string{".bash_profile": add + "false\n", ".bash_logout": "exit 7\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, _ := withShell(t, test.shell, test.files, nil)
			path, err := f.LoginPath(t.Context())
			if err != nil || !strings.HasSuffix(path, "/opt/mine") {
				t.Errorf("got %q, %v", path, err)
			}
		})
	}
}

func TestAShellThatHangsIsEnded(t *testing.T) {
	var pids string
	withTime(t, 3, func(limit time.Duration) string {
		f, home := withShell(t, "/bin/bash", map[string]string{
			".bash_profile": "echo $$ >>~/pids; (trap '' TERM; sleep 1000 & echo $! >>~/pids; wait) & setsid sleep 1000 & echo $! >>~/pids; sleep 1000",
		}, func(o *FinderOptions) { o.Limits.Shell = 3 * limit })
		path, err := f.LoginPath(t.Context())
		if path == "" && (err == nil || !strings.Contains(err.Error(), "start-up files")) {
			t.Errorf("got %q, %v", path, err)
		}
		pids = filepath.Join(home, "pids")
		return pids
	})
	gone(t, pids)
}

func TestAShellThatHangsOnlyForPeople(t *testing.T) {
	t.Parallel()
	f, _ := withShell(t, "/bin/bash", map[string]string{
		".bash_profile": "PATH=$PATH:/opt/mine; case $- in *i*) exec sleep 1000;; esac",
	}, func(o *FinderOptions) { o.Limits.Shell = 5 * time.Second })
	if path, err := f.LoginPath(t.Context()); err != nil || !strings.HasSuffix(path, "/opt/mine") {
		t.Errorf("got %q, %v", path, err)
	}
}

func TestWithoutAShell(t *testing.T) {
	strange := script(t, "strange", "echo I am no shell >&2; exit 4")
	f, _ := withShell(t, strange, nil, nil)
	if path, err := f.LoginPath(t.Context()); path != "" || err == nil || !strings.Contains(err.Error(), "I am no shell") {
		t.Errorf("got %q, %v", path, err)
	}
	for _, shell := range []string{"", "/nowhere/zsh", "/usr/sbin/nologin", "/tmp"} {
		f, _ := withShell(t, shell, map[string]string{".profile": "PATH=$PATH:/opt/mine\n"}, nil)
		if path, err := f.LoginPath(t.Context()); err != nil || !strings.HasSuffix(path, "/opt/mine") {
			t.Errorf("SHELL=%s: got %q, %v", shell, path, err)
		}
	}
}

func TestTheLoginShellIsAskedOnce(t *testing.T) {
	f, home := withShell(t, "/bin/sh", map[string]string{".profile": "echo x >>~/asked\nPATH=$PATH:/opt/mine\n"}, nil)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.LoginPath(cancelled); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if path, err := f.LoginPath(t.Context()); err != nil || !strings.HasSuffix(path, "/opt/mine") {
				t.Errorf("got %q, %v", path, err)
			}
		})
	}
	all.Wait()
	data, err := os.ReadFile(filepath.Join(home, "asked"))
	if err != nil || string(data) != "x\n" {
		t.Errorf("asked %q, %v", data, err)
	}
	apptest.Contains(t, strings.Join(f.Environment(t.Context(), "X=1"), "\n"), "X=1", "PATH=/usr/bin:/bin", ":/opt/mine")
}
