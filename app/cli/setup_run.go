package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lamplighter/app/api"
	"lamplighter/app/setup"
	"lamplighter/monitor"
)

// setupRun changes settings, or shows what would change.
type setupRun struct {
	*program
	settings api.Setup
	wanted   setup.Wanted
	words    setupWords
	clients  []setup.Client  // that are meant, as they were before
	told     map[string]bool // lines that need not be said again
}

// errNotAll makes the exit status when a file could not be changed, which has
// been told.
var errNotAll = toldError{errors.New("not all files were changed")}

// errInterrupted comes with what was done before.
var errInterrupted = errors.New("interrupted; the files that are not named were left as they are")

// do is Do, where an interruption has words.
func (r *setupRun) do(ctx context.Context, w setup.Wanted) (setup.Result, error) {
	result, err := r.settings.Do(ctx, w)
	switch {
	case err != nil && ctx.Err() != nil && w.DryRun:
		return result, errors.New("interrupted; nothing was changed")
	case err != nil && ctx.Err() != nil && len(result.Changes) > 0:
		return result, errInterrupted
	case err != nil && ctx.Err() != nil:
		return result, errors.New("interrupted; nothing was changed")
	case errors.Is(err, setup.ErrNoServer):
		return result, fmt.Errorf("%w; lamplighter setup --list shows them", err)
	}
	return result, err
}

// inJSON acts, or looks, and prints what came of it for programs.
func (r *setupRun) inJSON(ctx context.Context) error {
	result, interrupted := r.do(ctx, r.wanted)
	if interrupted != nil && !errors.Is(interrupted, errInterrupted) {
		return interrupted
	}
	r.warn(result)
	if err := r.printJSON(result); err != nil {
		return err
	}
	return cmp.Or(interrupted, r.failed(result))
}

// look shows what would change.
func (r *setupRun) look(ctx context.Context) error {
	result, err := r.preview(ctx)
	if err != nil {
		return err
	}
	if result.Page {
		if err := r.print(r.words.page()); err != nil {
			return err
		}
	}
	return r.failed(result)
}

// preview prints the diff of each file, and says what would happen.
func (r *setupRun) preview(ctx context.Context) (setup.Result, error) {
	w := r.wanted
	w.DryRun, w.Contents = true, true
	result, err := r.do(ctx, w)
	if err != nil {
		return result, err
	}
	for _, c := range result.Changes {
		if err := r.print(r.words.diff(c)); err != nil {
			return result, err
		}
	}
	return result, r.tell(ctx, result, w)
}

// warn says that what is written, or would be, names a directory that does not stay.
func (r *setupRun) warn(result setup.Result) {
	if text := r.words.passing(r.Self, r.Base.TempDir); text != "" && !r.wanted.Undo && filesOf(result) > 0 && !r.told[text] {
		r.told[text] = true
		r.Say("%s", text)
	}
}

// tell says what came of each file, or would: problems to standard error.
func (r *setupRun) tell(ctx context.Context, result setup.Result, w setup.Wanted) error {
	r.warn(result)
	said := false
	for _, note := range result.Notes {
		if r.told[note] {
			continue
		}
		r.told[note] = true
		r.Say("%s", r.words.short(note))
	}
	for _, c := range result.Changes {
		lines, problem := r.words.change(c, w.DryRun)
		said = said || c.Written
		if problem != "" && !r.told[problem] {
			r.told[problem] = true
			r.Say("%s", problem)
		}
		for _, line := range lines {
			said = true
			if r.told[line] {
				continue
			}
			r.told[line] = true
			if err := r.print(line + "\n"); err != nil {
				return err
			}
		}
	}
	changed := slices.ContainsFunc(result.Changes, func(c setup.Change) bool {
		return c.Written || c.Problem == "" && (len(c.Entries) > 0 || len(c.Kept) > 0 || c.Whole)
	})
	switch {
	case said && !changed && !result.Failed():
		return r.print(r.words.nothingElse())
	case said:
		return nil
	case result.Failed() && w.DryRun:
		return r.print("Nothing would change.\n")
	case result.Failed():
		return r.print("Nothing was changed.\n")
	}
	// Another setup may have done it since they were listed.
	clients, err := listed(ctx, r.settings, r.wanted)
	if err != nil {
		return err
	}
	return r.print(r.words.nothing(clients))
}

// pageStops reports whether an entry that is meant opens Serena's own page, and
// --no-page would stop that. It is known before anything is looked up for a
// change; of entries that are named Result.Page tells.
func (r *setupRun) pageStops() bool {
	if r.wanted.NoPage || r.wanted.Undo || len(r.wanted.Servers) > 0 {
		return false
	}
	for _, c := range r.clients {
		for _, f := range c.Files {
			if slices.ContainsFunc(f.Entries, func(e setup.Entry) bool { return e.PageStops }) {
				return true
			}
		}
	}
	return false
}

// ask asks what is left open, shows what would change, asks, and does what was
// shown.
func (r *setupRun) ask(ctx context.Context) error {
	asked := r.pageStops()
	if asked {
		var err error
		if r.wanted.NoPage, err = r.yes(ctx, "Serena opens a page of its own for every server. Stop that?"); err != nil {
			return err
		}
	}
	result, err := r.preview(ctx)
	if err != nil {
		return err
	}
	files := filesOf(result)
	if files == 0 {
		return r.failed(result)
	}
	switch yes, err := r.yes(ctx, changeQuestion(files, r.wanted.Undo)); {
	case err != nil:
		return err
	case !yes:
		return r.print("Nothing was changed.\n") // as the user wished, whatever else could not be
	}
	r.wanted.Expect = map[string]string{}
	for _, c := range result.Changes {
		if c.Sum != "" {
			r.wanted.Expect[c.Path] = c.Sum
		}
	}
	return r.carryOut(ctx, asked)
}

// act changes the files.
func (r *setupRun) act(ctx context.Context) error { return r.carryOut(ctx, false) }

// carryOut changes the files, and says what is to be done next. asked tells that
// the user has been asked about Serena's own page.
func (r *setupRun) carryOut(ctx context.Context, asked bool) error {
	w := r.wanted
	result, interrupted := r.do(ctx, w)
	if interrupted != nil && !errors.Is(interrupted, errInterrupted) {
		return interrupted
	}
	if err := r.tell(ctx, result, w); err != nil {
		return err
	}
	text := r.words.restart(result.Running)
	if interrupted == nil && filesOf(result) > 0 && !w.Undo && !r.backgroundRuns(ctx) {
		text += "Lamplighter does not run now. Until you start it, with lamplighter run, these clients start their servers themselves.\n"
	}
	if interrupted == nil && !asked && result.Page {
		text += r.words.page()
	}
	return cmp.Or(r.print(text), interrupted, r.failed(result))
}

func failedOf(result setup.Result) error {
	if result.Failed() {
		return errNotAll
	}
	return nil
}

// failed is failedOf, also for an entry that was named and is left alone in all
// files, and for one that would not start after an uninstall.
func (r *setupRun) failed(result setup.Result) error {
	for _, c := range result.Changes {
		if r.wanted.Uninstall && slices.ContainsFunc(c.Left, wouldNotStart) {
			return errNotAll
		}
	}
	for _, name := range r.wanted.Servers {
		done, left := false, false
		is := func(e setup.Entry) bool { return e.Name == monitor.Clean(name) }
		for _, c := range result.Changes {
			done = done || slices.ContainsFunc(c.Entries, is)
			left = left || slices.ContainsFunc(c.Left, is)
		}
		if left && !done {
			return errNotAll
		}
	}
	return failedOf(result)
}

// filesOf counts the files that are changed, or would be.
func filesOf(result setup.Result) int {
	n := 0
	for _, c := range result.Changes {
		if c.Problem == "" && len(c.Entries) > 0 {
			n++
		}
	}
	return n
}

func changeQuestion(files int, undo bool) string {
	these := "this file"
	if files > 1 {
		these = fmt.Sprintf("these %d files", files)
	}
	if undo {
		return "Undo it in " + these + "?"
	}
	return "Change " + these + "?"
}

// yes asks a question on the terminal. Anything but a yes is a no, and so is the
// end of what is typed.
func (p *program) yes(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(p.Stderr, question+" [y/N] ")
	answer := make(chan string, 1)
	go func() { answer <- typedLine(p.keyboard) }() // a terminal cannot be told to stop waiting; we end with it
	select {
	case <-ctx.Done():
		fmt.Fprintln(p.Stderr)
		return false, errors.New("interrupted; nothing was changed")
	case line := <-answer:
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(p.Stderr)
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		}
		return false, nil
	}
}

// typedMost is how long an answer may be.
const typedMost = 1 << 10

// typedLine reads one line and not a byte more, which may be the next answer.
func typedLine(r io.Reader) string {
	var line []byte
	one := make([]byte, 1)
	for len(line) < typedMost {
		n, err := r.Read(one)
		if n == 1 {
			line = append(line, one[0])
		}
		if err != nil || n == 1 && one[0] == '\n' {
			break
		}
	}
	return string(line)
}
