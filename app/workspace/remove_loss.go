package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// lossWith is what would be lost with all of a workspace (stepRemove), or with its
// tree alone (stepEnd): what the last version has is not lost then. The error is
// that ctx has ended; what could not be found out is Loss.Unknown.
func (m *Manager) lossWith(ctx context.Context, r *record, verb verb) (Loss, error) {
	loss := Loss{Uncommitted: []string{}, Commits: []string{}, Submodules: []string{}}
	if verb == stepRemove { // an archive and versions are what was kept
		loss.Archive, loss.Versions = r.State == Archived && r.Archive != nil, m.countVersions(r)
		loss.Submodules = m.submodulesAside(r)
	}
	if r.State != Ready {
		loss.Words = lossWords(loss, "")
		return loss, nil // there is no tree
	}
	busy := ""
	switch lies, err := m.lies(r, r.Path); {
	case err != nil:
		loss.Unknown = err.Error()
	case lies == nothing: // what there was has been taken away by somebody else
		busy = m.remembered(ctx, r, verb, &loss)
	case lies == another:
		loss.Unknown = fmt.Sprintf("what lies at %s is not what was made there", monitor.Clean(r.Path))
	default:
		busy = m.look(ctx, r, verb, &loss)
	}
	if ctx.Err() != nil {
		return loss, context.Cause(ctx)
	}
	loss.Words = lossWords(loss, busy)
	return loss, nil
}

// submodulesAside are the submodules whose repositories are in the data of a
// workspace, because they could not be given back: see putModules.
func (m *Manager) submodulesAside(r *record) []string {
	names := []string{}
	dirs, err := os.ReadDir(m.store.data(r.ID))
	if err != nil {
		return names
	}
	for _, dir := range dirs {
		if !strings.HasPrefix(dir.Name(), keptModules) {
			continue
		}
		modules, err := os.ReadDir(filepath.Join(m.store.data(r.ID), dir.Name()))
		if err != nil {
			names = append(names, dir.Name())
		}
		for _, module := range modules {
			names = append(names, monitor.Clean(module.Name()))
		}
	}
	return names
}

// look fills in what would be lost with a tree that is ours, and says what git is
// about there.
func (m *Manager) look(ctx context.Context, r *record, verb verb, loss *Loss) (busy string) {
	if r.Source.Kind == FromGit {
		status, err := m.gitStatus(ctx, r)
		if err != nil {
			loss.Unknown = err.Error()
			return ""
		}
		m.takeStatus(r, verb, status, loss)
		busy = monitor.Clean(status.Busy)
	}
	if r.Kind != Temp || r.Source.Kind == FromGit {
		known, err := m.ourTrees()
		in := nestedIn(ctx, r.Path, known)
		var unread *unreadable // which stand against it where they may lie in it, see barred
		if loss.Nested = in.work; err != nil && !errors.As(err, &unread) {
			in.unknown = monitor.Clean(err.Error())
		}
		if loss.Unknown == "" {
			loss.Unknown = in.unknown
		}
	}
	if r.Kind == Temp || r.Source.Kind == FromGit && verb != stepEnd {
		return busy
	}
	changed, err := m.changed(ctx, r)
	switch {
	case err != nil:
		loss.Unknown = err.Error()
	case changed:
		loss.Changed = !m.nothingMade(r)
	default: // all that is in the tree is in its last version too
		loss.Uncommitted, loss.More, loss.Nested = []string{}, 0, nil
	}
	return busy
}

func (m *Manager) gitStatus(ctx context.Context, r *record) (gitwork.Status, error) {
	repo, err := gitwork.Open(ctx, r.Source.Repository)
	if err != nil {
		return gitwork.Status{}, err
	}
	return repo.Wary().Status(ctx, r.Path, r.Source.Admin)
}

// lossWords say in a sentence what would be lost, "" when nothing would be.
func lossWords(loss Loss, busy string) string {
	var words []string
	if n := len(loss.Uncommitted) + loss.More; n > 0 {
		words = append(words, fmt.Sprintf("%s not committed (%s)", monitor.Plural(n, "file is", "files are"), some(loss.Uncommitted, n)))
	}
	if n := len(loss.Commits) + loss.MoreCommits; n > 0 {
		words = append(words, fmt.Sprintf("%s on no other branch and no remote (%s)", monitor.Plural(n, "commit is", "commits are"), some(loss.Commits, n)))
	}
	if busy != "" {
		words = append(words, "a "+busy+" is going on")
	}
	if n := len(loss.Submodules); n > 0 {
		words = append(words, fmt.Sprintf("%s (%s)", monitor.Plural(n, "submodule has work of its own", "submodules have work of their own"), some(loss.Submodules, n)))
	}
	if n := len(loss.Nested); n > 0 {
		words = append(words, fmt.Sprintf("%s (%s)", monitor.Plural(n, "other worktree or repository in it has work of its own", "other worktrees and repositories in it have work of their own"), some(loss.Nested, n)))
	}
	if loss.Archive {
		words = append(words, "its archive")
	}
	if loss.Versions > 0 {
		words = append(words, monitor.Plural(loss.Versions, "kept version", "kept versions"))
	}
	if loss.Changed {
		words = append(words, "it differs from its last version, or has none")
	}
	if loss.Unknown != "" {
		words = append(words, "what would be lost could not be found out: "+loss.Unknown)
	}
	return strings.Join(words, ", ")
}

// some names the first of a number of things.
func some(list []string, of int) string {
	const most = 3
	text := strings.Join(list[:min(len(list), most)], ", ")
	if of > most {
		text += ", …"
	}
	return text
}

// lying is what is at the place of a tree.
type lying int

const (
	ours lying = iota
	nothing
	another
)

// lies tells what is at a path where the tree of a workspace may be. The error
// tells that this cannot be known: also where the directory around it has gone,
// which may be on a drive that is not there for now.
func (m *Manager) lies(r *record, path string) (lying, error) {
	identity, err := tree.Identity(path)
	switch {
	case err == nil && identity == r.Root && r.Root != "":
		return ours, nil
	case err == nil:
		return another, nil
	}
	if _, there := os.Lstat(path); there == nil {
		return another, nil // a file or a link
	} else if !errors.Is(there, fs.ErrNotExist) {
		return another, there
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nothing, fmt.Errorf("the directory that it was made in cannot be looked at: %w", err)
	}
	if r.moved() {
		return nothing, fmt.Errorf("%s is not the directory that it was made in, which may be on a drive that is not there now", monitor.Clean(filepath.Dir(path)))
	}
	return nothing, nil
}
