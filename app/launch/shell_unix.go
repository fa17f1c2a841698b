//go:build unix

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"lamplighter/app/project"
	"lamplighter/monitor"
)

// askLogin asks the user's shell for its PATH, within the limit.
func (f *Finder) askLogin(ctx context.Context) (string, error) {
	// The shell of a home that does not answer would wait there, too.
	home, err := project.Look(ctx, &f.looks, "home", f.o.Home, func(home string) string {
		if isDirectory(home) {
			return home
		}
		return "/"
	})
	if err != nil {
		return "", unlooked(ctx, "the home directory", err)
	}
	shell, err := project.Look(ctx, &f.looks, "shell", f.o.Passwd, func(string) string { return f.shell() })
	if err != nil {
		return "", unlooked(ctx, f.o.Passwd, err)
	}
	if shell == "" {
		return "", errors.New("the login shell is not known: set SHELL")
	}
	deadline := time.Now().Add(f.o.Limits.Shell)
	env := environment(f.o.GOOS, f.o.Environ, "", []string{"TERM=dumb"})
	marker := newMark()
	ways := questions(shell, marker)
	var failed error // that of the best way
	for i, q := range ways {
		limit := time.Until(deadline)
		if i == 0 && len(ways) > 1 {
			limit = limit * 7 / 10 // what hangs is mostly in the files for interactive use
		}
		o, err := execute(ctx, run{
			command: append([]string{shell}, q.args...), argv0: q.argv0,
			env: env, dir: home, mark: newMark(), limit: limit,
			spare: true, // an agent that the user's own files start
		})
		if err != nil {
			return "", err
		}
		if value, ok := answered(o.stdout, marker); ok {
			return value, nil
		}
		if failed == nil {
			failed = f.unanswered(o)
		}
		if o.startErr != nil || time.Until(deadline) <= 0 {
			break
		}
	}
	return "", fmt.Errorf("asking %s for its PATH: %w", shell, failed)
}

// unlooked says that the shell was not asked, because what has to be looked at
// before does not answer. The error of a context stays what it is.
func unlooked(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the login shell is not asked for its PATH: %s %w", what, err)
}

// unanswered says why a shell did not tell its PATH.
func (f *Finder) unanswered(o outcome) error {
	said := lastSaid(o.stderr, 1)
	switch {
	case o.startErr != nil:
		return o.startErr
	case o.timedOut:
		return fmt.Errorf("no answer within %s: something in its start-up files waits", monitor.Span(f.o.Limits.Shell))
	case len(said) > 0:
		return fmt.Errorf("%s: %s", o.ended, said[0])
	}
	return errors.New(o.ended)
}

// shell returns the path of the user's shell, or nothing.
func (f *Finder) shell() string {
	candidates := []string{parseEnviron(f.o.GOOS, f.o.Environ).get("SHELL")}
	if passwd, err := os.ReadFile(f.o.Passwd); err == nil {
		candidates = append(candidates, shellOf(string(passwd), strconv.Itoa(os.Getuid())))
	}
	if f.o.GOOS == "darwin" {
		candidates = append(candidates, "/bin/zsh") // its users are not in a file
	}
	for _, shell := range append(candidates, "/bin/bash", "/bin/sh") {
		if info, err := os.Stat(shell); logsIn(shell) && err == nil && info.Mode().IsRegular() {
			return shell
		}
	}
	return ""
}
