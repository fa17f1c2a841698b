package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"lamplighter/app/project"
	"lamplighter/monitor"
)

// check says whether a candidate works. The error is that of ctx.
func (f *Finder) check(ctx context.Context, c Candidate, serena, offline bool) (Verdict, error) {
	switch {
	case c.problem != NoProblem:
		return Verdict{Candidate: c, Problem: c.problem, Detail: c.note}, nil
	case c.Untrusted:
		use := "write its full path into templates"
		if serena {
			use = c.Setting()
		}
		return Verdict{Candidate: c, Problem: NotRun, Detail: fmt.Sprintf("It belongs to the project %s: in a session there it is run only when the settings name it. To use it: %s", monitor.Clean(c.project), use)}, nil
	}
	seen, err := project.Look(ctx, &f.looks, "program", c.Command[0], examined)
	if err != nil {
		return unseen(c, err)
	}
	if seen.problem != NoProblem {
		return Verdict{Candidate: c, Problem: seen.problem, Detail: seen.detail}, nil
	}
	if !serena {
		return Verdict{Candidate: c, OK: true, Detail: "It is there. It was not run: it is not Serena, and not every server knows --version."}, nil
	}
	env := f.Environment(ctx, c.Env...)
	files, err := project.Look(ctx, &f.looks, "files", c.Command[0], identityOf)
	if err != nil {
		return unseen(c, err)
	}
	key := verdictKey(c.Command, env, files, offline)
	release, err := f.verdicts.take(ctx, key)
	if err != nil {
		return Verdict{}, err
	}
	defer release()
	if v, ok := f.verdicts.get(key); ok {
		v.Candidate, v.Cached = c, true
		return v, nil
	}
	v, err := f.ask(ctx, c, env, offline)
	if err != nil {
		return Verdict{}, err
	}
	f.verdicts.put(key, v)
	return v, nil
}

// unseen judges a candidate whose files could not be looked at. The error is
// that of a context.
func unseen(c Candidate, err error) (Verdict, error) {
	if !errors.Is(err, project.ErrSilent) {
		return Verdict{}, err
	}
	return Verdict{Candidate: c, Problem: Silent, Detail: fmt.Sprintf(
		"%s did not answer within %s: what it lies on, or what it leads to, hangs.", monitor.Clean(c.Command[0]), monitor.Span(lookLimit))}, nil
}

// ask runs a candidate that is Serena's.
func (f *Finder) ask(ctx context.Context, c Candidate, env []string, offline bool) (Verdict, error) {
	extra := []string{"SERENA_USAGE_REPORTING=false"}
	// Serena makes its home directory even when it is only asked.
	if home, err := os.MkdirTemp("", "lamplighter-check-"); err == nil {
		defer os.RemoveAll(home)
		extra = append(extra, "SERENA_HOME="+home)
	}
	if offline {
		extra = append(extra, "UV_OFFLINE=1")
	}
	r := run{
		env: environment(f.o.GOOS, env, "", extra), dir: neutralDir(f.o.Home, f.o.StateDir),
		mark: newMark(), limit: f.o.Limits.Version,
	}
	python := interpreterOf(c.Command)
	if python == nil {
		var err error
		if python, err = project.Look(ctx, &f.looks, "interpreter", c.Command[0], behind); err != nil {
			return unseen(c, err)
		}
	}
	a := hearing{candidate: c, limit: r.limit, offline: offline, pythonPath: parseEnviron(f.o.GOOS, f.o.Environ).get("PYTHONPATH")}
	kept := splitPath(f.o.GOOS, parseEnviron(f.o.GOOS, r.env).get("PYTHONPATH"))
	a.leftOut = slices.DeleteFunc(splitPath(f.o.GOOS, a.pythonPath), func(dir string) bool { return slices.Contains(kept, dir) })
	var err error
	if old := strings.EqualFold(monitor.ProgramName(c.Command[0]), oldProgram); old {
		if python != nil {
			a.python, err = f.askInterpreter(ctx, python, r)
		}
		return outdated(c, a.python), err
	}
	if downloads(c.Command) {
		r.limit = f.o.Limits.Download
	}
	a.asked, a.limit = asking(c.Command), r.limit
	r.command = a.asked
	if a.outcome, err = execute(ctx, r); err != nil {
		return Verdict{}, err
	}
	if a.outcome.startErr != nil {
		seen, err := project.Look(ctx, &f.looks, "start", c.Command[0], func(path string) seen { return unstartable(path, a.outcome.startErr) })
		if err != nil {
			return unseen(c, err)
		}
		return Verdict{Candidate: c, Problem: seen.problem, Detail: seen.detail}, nil
	}
	if python != nil && needsPython(a.outcome) {
		if a.python, err = f.askInterpreter(ctx, python, r); err != nil {
			return Verdict{}, err
		}
	}
	return judge(a), nil
}

// checkAll checks every candidate, a few at the same time, and keeps the order.
func (f *Finder) checkAll(ctx context.Context, candidates []Candidate, serena bool) []Verdict {
	verdicts := make([]Verdict, len(candidates))
	slots := make(chan struct{}, mostChecks)
	for i, c := range candidates {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			// Nothing is downloaded just to be looked at.
			v, err := f.check(ctx, c, serena, downloads(c.Command))
			if err != nil {
				v = Verdict{Candidate: c, Problem: NotRun, Detail: "It was not checked: " + err.Error() + "."}
			}
			verdicts[i] = v
		}()
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
	return slices.Clip(verdicts)
}

// mostChecks run at the same time: each one is an interpreter that loads a lot.
const mostChecks = 4
