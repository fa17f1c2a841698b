package installer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// commandTime is how long the commands of a plan may take together, while others
// wait for the lock.
const commandTime = 20 * time.Second

// Do carries a plan out, whole or not at all: when a change fails, those before
// it are taken back. What cannot be taken back comes last, when nothing else can
// fail: optional commands run, and trees are removed. tell is called for each
// change when it is made or, when it is optional, has failed; nil for nobody.
//
// An installation that was interrupted is taken back, or finished where all was
// in place, before anything else. The plan is then made anew, as it is when
// another process has installed something, or somebody has changed what it is
// about, since it was made.
//
// When ctx ends before all is in place, all is taken back. Later it ends no more
// than commands.
func (i *Installer) Do(ctx context.Context, p Plan, tell func(c Change, err error)) (err error) {
	if tell == nil {
		tell = func(Change, error) {}
	}
	if !filepath.IsAbs(i.o.StateDir) {
		return fmt.Errorf("nothing was changed: %w for the receipt; set HOME or LAMPLIGHTER_STATE_DIR to a directory of yours", ErrNoHome)
	}
	if p.empty() && !i.interrupted() {
		return nil
	}
	if err := p.sound(); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	made, err := makeDirs(missingDirs(i.o.StateDir), 0o700)
	if err != nil {
		removeDirs(made)
		return fmt.Errorf("nothing was changed: %w", err)
	}
	lock, err := i.lock(ctx)
	if err != nil {
		removeDirs(made)
		return fmt.Errorf("nothing was changed: %w", err)
	}
	forgotten := p.forget
	defer func() {
		unlocked := lock.Close()
		// The lock and its directory go with what they are for.
		receipt, _, rerr := i.loadReceipt()
		if nothing := receipt == nil && rerr == nil && !i.interrupted(); nothing && (forgotten || err != nil) {
			i.forgetPlace(made)
		}
		if err == nil {
			err = unlocked
		}
	}()
	recovered, err := i.recover(ctx)
	if err != nil {
		return fmt.Errorf("an installation that was interrupted cannot be taken back: %w", err)
	}
	before, digest, err := i.loadReceipt()
	if errors.Is(err, ErrForeign) {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if err != nil { // the plan has a new one
		before = nil
	}
	if p.remake != nil && (recovered || digest != p.base || p.stale()) {
		if p, err = p.remake(ctx); err != nil {
			return fmt.Errorf("nothing was installed or removed: %w", err)
		}
		forgotten = p.forget
	}
	if p.empty() {
		return nil
	}
	if err := p.sound(); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	t := transaction{i: i, tell: tell, plan: p, before: before, made: made}
	if err := t.run(ctx); err != nil {
		return err
	}
	made = t.j.Gone
	return nil
}

// empty reports whether there is nothing to do.
func (p Plan) empty() bool { return len(p.Changes) == 0 && p.receipt == nil && !p.forget }

// sound refuses a plan that cannot be taken back, or that means no place.
func (p Plan) sound() error {
	seen := map[string]bool{}
	for _, c := range p.Changes {
		if c.Op == OpRun {
			continue
		}
		key := c.Path + "\x00" + c.Name
		if seen[key] {
			return fmt.Errorf("the plan changes %s twice", shown(c.Path))
		}
		seen[key] = true
		if c.Op != OpSetValue && c.Op != OpDeleteValue && !filepath.IsAbs(c.Path) {
			return fmt.Errorf("%s is not a whole path", shown(c.Path))
		}
	}
	return nil
}

// transaction is one plan that is carried out.
type transaction struct {
	i      *Installer
	tell   func(Change, error)
	plan   Plan
	before *Receipt // nil for none
	made   []string // directories that were made for the state directory
	j      *journal
	trees  []tree // that go at the end
}

func (t *transaction) run(ctx context.Context) error {
	if err := t.prepare(); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if err := t.upToMark(ctx); err != nil {
		return t.back(err)
	}
	return t.finish(ctx)
}

// upToMark does all that can be taken back.
func (t *transaction) upToMark(ctx context.Context) error {
	t.j.Phase = staging
	if err := t.save(); err != nil {
		return err
	}
	if err := t.stage(ctx); err != nil {
		return err
	}
	first := slices.IndexFunc(t.plan.Changes, func(c Change) bool { return c.Op != OpRun })
	if first < 0 {
		first = len(t.plan.Changes)
	}
	if err := t.commands(ctx, t.plan.Changes[:first], false); err != nil {
		return err
	}
	t.j.Phase = committing
	if err := t.save(); err != nil {
		return err
	}
	if err := t.commit(ctx); err != nil {
		return err
	}
	if err := t.commands(ctx, t.plan.Changes[first:], false); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.j.Phase = committed
	return t.save()
}

// errInterrupted says that whoever wanted it has ended it.
var errInterrupted = errors.New("it was interrupted")

// back takes all back after a failure.
func (t *transaction) back(failed error) error {
	if errors.Is(failed, context.Canceled) {
		failed = errInterrupted
	}
	if err := t.i.rollBack(t.j); err != nil {
		return fmt.Errorf("%w; and not all of it could be taken back: %w; run it again when that is put right", failed, err)
	}
	return fmt.Errorf("nothing was changed: %w", failed)
}

// finish is what is left once all is in place. The end of ctx ends no more than
// the commands.
func (t *transaction) finish(ctx context.Context) error {
	if err := t.commands(ctx, t.plan.Changes, true); err != nil {
		return err
	}
	if err := t.i.complete(t.j); err != nil {
		return fmt.Errorf("all is in its place, but that could not be noted: %w; run it again when that is put right", err)
	}
	removed := t.remove()
	if err := errors.Join(removed, t.i.close(t.j)); err != nil {
		return fmt.Errorf("not all of it could be removed: %w; run it again when that is put right", err)
	}
	for _, c := range t.plan.Changes {
		if c.Path == t.i.receiptPath() {
			t.tell(c, nil)
		}
	}
	return nil
}

// remove removes the trees. One that cannot be removed is told, and the others
// go still.
func (t *transaction) remove() error {
	var failed error
	for _, tr := range t.trees {
		err := t.i.at("remove " + tr.Path)
		if err == nil {
			err = t.i.removeTree(tr)
		}
		for _, c := range t.plan.Changes {
			if c.Op == OpRemoveTree && c.Path == tr.Path {
				t.tell(c, err)
			}
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// commands runs those of some changes that are optional, or those that are not.
func (t *transaction) commands(ctx context.Context, changes []Change, optional bool) error {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	for _, c := range changes {
		if c.Op != OpRun || len(c.Command) == 0 || c.Optional != optional {
			continue
		}
		if err := t.i.at("run " + c.Command[0]); err != nil {
			return err
		}
		err := t.i.run(ctx, c.Command)
		if err != nil && !c.Optional {
			return err
		}
		t.tell(c, err)
	}
	return nil
}

func (i *Installer) run(ctx context.Context, words []string) error {
	out, err := i.o.Command(ctx, words[0], words[1:]...)
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		err = errInterrupted
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	said := strings.Join(strings.Fields(string(out)), " ")
	const most = 300
	if len(said) > most {
		said = strings.ToValidUTF8(said[:most], "") + "…"
	}
	if said != "" {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, shown(said))
	}
	return fmt.Errorf("%s: %w", strings.Join(words, " "), err)
}

// missingDirs are those that are to be made for path, the outermost first.
func missingDirs(path string) []string {
	var missing []string
	for {
		if _, err := os.Stat(path); err == nil {
			break
		}
		missing = append(missing, path)
		parent := filepath.Dir(path)
		if parent == path {
			break
		}
		path = parent
	}
	slices.Reverse(missing)
	return missing
}

// makeDirs makes directories, the outermost first, and returns those that it made.
func makeDirs(paths []string, mode os.FileMode) (made []string, err error) {
	for _, path := range paths {
		if err := os.Mkdir(path, mode); err != nil {
			if info, serr := os.Stat(path); serr == nil && info.IsDir() {
				continue // another made it
			}
			return made, failure("the directory cannot be made:", path, err)
		}
		made = append(made, path)
	}
	return made, nil
}

// removeDirs removes those of them that are empty, the deepest first.
func removeDirs(paths []string) {
	for _, path := range deepestFirst(paths) {
		removeEmpty(path)
	}
}

// removeEmpty removes a directory that is empty and no link, and tells whether it
// is gone.
func removeEmpty(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return errors.Is(err, os.ErrNotExist)
	}
	return os.Remove(path) == nil
}

// deepestFirst are paths in an order in which each comes before its parents,
// each once.
func deepestFirst(paths []string) []string {
	list := slices.Clone(paths)
	slices.SortFunc(list, func(a, b string) int {
		if n := strings.Count(b, string(filepath.Separator)) - strings.Count(a, string(filepath.Separator)); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(list)
}
