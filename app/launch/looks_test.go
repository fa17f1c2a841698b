package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/project"
	"lamplighter/monitor/programtest"
)

// hang makes every look below dir wait until the test ends, and counts them.
func hang(t *testing.T, l *project.Looks, dir string) (hung *atomic.Int64) {
	t.Helper()
	free := make(chan struct{})
	hung = &atomic.Int64{}
	l.Before = func(path string) {
		if path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)) {
			hung.Add(1)
			<-free
			hung.Add(-1)
		}
	}
	t.Cleanup(func() {
		close(free)
		apptest.Eventually(t, "every look goes on", func() bool { return hung.Load() == 0 })
	})
	return hung
}

func TestADirectoryThatHangsIsPassedOver(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	hung, good := filepath.Join(home, "hung"), filepath.Join(home, "good")
	for _, dir := range []string{hung, good} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	server := filepath.Join(good, "server.exe")
	if err := programtest.WriteFile(server, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := NewFinder(FinderOptions{
		Environ: []string{"PATH=" + strings.Join([]string{hung, good}, string(filepath.ListSeparator)), "SHELL=/bin/sh"},
		Home:    home, Passwd: filepath.Join(home, "none"),
	})
	f.looks.Limit = time.Second
	looks := hang(t, &f.looks, hung)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r, err := f.Resolve(t.Context(), Wanted{Command: []string{"server.exe"}, Project: home})
			if err != nil || len(r.Chosen.Command) != 1 || r.Chosen.Command[0] != server {
				t.Errorf("got %+v, %v", r.Chosen, err)
			}
			if len(r.Tried) != 1 || r.Tried[0].Problem != Silent || !strings.Contains(r.Tried[0].Source, hung) {
				t.Errorf("tried %+v", r.Tried)
			}
		})
	}
	all.Wait()
	if n := looks.Load(); n != 1 {
		t.Errorf("%d looks hang", n)
	}
	// By its full path it is wanted itself.
	_, err := f.Resolve(t.Context(), Wanted{Command: []string{filepath.Join(hung, "server")}, Project: home})
	var not *NotFoundError
	if !errors.As(err, &not) || not.Tried[len(not.Tried)-1].Problem != Silent {
		t.Errorf("got %v", err)
	}
}

func TestResolveEndsWithItsContextWhateverHangs(t *testing.T) {
	dir := t.TempDir()
	f := NewFinder(FinderOptions{Environ: []string{"PATH=" + dir, "SHELL=/bin/sh"}, Home: t.TempDir(), Passwd: filepath.Join(dir, "none")})
	f.looks.Limit = time.Hour
	looks := hang(t, &f.looks, dir)
	for name, command := range map[string]string{"by name": "server", "by path": filepath.Join(dir, "server")} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := f.Resolve(ctx, Wanted{Command: []string{command}, Project: dir})
			done <- err
		}()
		apptest.Eventually(t, "it looks", func() bool { return looks.Load() > 0 })
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLaunchEndsWhenItsDirectoryHangs(t *testing.T) {
	l, _ := running(t, t.TempDir(), nil)
	dir := t.TempDir()
	looks := hang(t, &l.looks, dir)
	l.looks.Limit = time.Hour
	spec := order()
	spec.Template.Directory = dir
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := l.Launch(ctx, spec)
		done <- err
	}()
	apptest.Eventually(t, "it looks", func() bool { return looks.Load() > 0 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
