//go:build real && bench && linux

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"lamplighter/app/e2e"
)

// What workspaces are made from, and how often, in turns.
const (
	repoFiles      = 50_000
	treePairs      = 5
	bigFiles       = 200
	bigFile        = 10 << 20 // bytes
	listedAtOnce   = 1000
	workspaceLists = 20
)

// workspaces measures making, removing and listing workspaces, beside git, cp and
// rm.
func (b *bench) workspaces(t *testing.T) {
	j := e2e.JobsHome(t)
	j.Set(t, "workspace_limit: 10000\n")
	t.Run("git", func(t *testing.T) { b.fromGit(t, j) })
	t.Run("directory", func(t *testing.T) { b.fromDirectory(t, j) })
	t.Run("list", func(t *testing.T) { b.listMany(t, j) })
}

// timedRun is how long a program takes that has to succeed, in ms.
func timedRun(t *testing.T, j e2e.Jobs, dir string, line ...string) float64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, append(j.Env, "PATH="+os.Getenv("PATH"))
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", line, err, said.String())
	}
	return inMilliseconds(time.Since(start))
}

// fromGit makes worktrees of a large repository and removes them.
func (b *bench) fromGit(t *testing.T, j e2e.Jobs) {
	for i := range repoFiles {
		path := filepath.Join(j.Repo, fmt.Sprintf("dir%03d", i/100), fmt.Sprintf("file%05d.go", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, fmt.Appendf(nil, "package p%d\n// %0*d\n", i, 400, i), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	j.Git(t, "add", "-A")
	j.Git(t, "commit", "-qm", "Many files")
	parent := t.TempDir()
	var theirs, ours, theirEnds, ourEnds []float64
	for i := range treePairs {
		tree := filepath.Join(parent, strconv.Itoa(i))
		theirs = append(theirs, timedRun(t, j, j.Repo, "git", "worktree", "add", "-q", "-b", "theirs-"+strconv.Itoa(i), tree))
		theirEnds = append(theirEnds, timedRun(t, j, j.Repo, "rm", "-rf", tree))
		job := "bench-" + strconv.Itoa(i)
		ours = append(ours, timedRun(t, j, j.Repo, b.ours, "workspace", "create", "--kind", "temp", "--from", j.Repo, "--in", parent, "--job", job))
		ourEnds = append(ourEnds, timedRun(t, j, j.Repo, b.ours, "workspace", "rm", job))
	}
	t.Logf("in turns, ms: git worktree add %.0f, workspace create %.0f, rm -rf %.0f, workspace rm %.0f", theirs, ours, theirEnds, ourEnds)
	added, removed := percentile(theirs, 50), percentile(theirEnds, 50)
	b.add(
		row{
			what:   fmt.Sprintf("workspace of a git repository of %d files (today: git worktree add), p50 of %d", repoFiles, treePairs),
			theirs: added, ours: percentile(ours, 50), unit: "ms", target: 1.2 * added,
		},
		row{
			what:   "… removed, with the look for work that would be lost (today: rm -rf, which does not look)",
			theirs: removed, ours: percentile(ourEnds, 50), unit: "ms", target: removed,
		},
	)
}

// fromDirectory copies a directory of large files on a file system that can share
// blocks.
func (b *bench) fromDirectory(t *testing.T, j e2e.Jobs) {
	dir := t.TempDir()
	image, mount := filepath.Join(dir, "btrfs"), filepath.Join(dir, "mount")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 12<<30), os.Mkdir(mount, 0o700)); err != nil {
		t.Fatal(err)
	}
	timedRun(t, j, dir, "mkfs.btrfs", "-q", image)
	timedRun(t, j, dir, "mount", "-o", "loop", image, mount)
	defer timedRun(t, j, dir, "umount", mount)
	from := filepath.Join(mount, "from")
	content := bytes.Repeat([]byte("0123456789abcdef"), bigFile/16)
	for i := range bigFiles {
		path := filepath.Join(from, strconv.Itoa(i/10), strconv.Itoa(i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	timedRun(t, j, dir, "sync")
	var copied, cloned, ours, theirEnds, ourEnds []float64
	for i := range treePairs {
		one, two, job := filepath.Join(mount, "copied"), filepath.Join(mount, "cloned"), "clone-"+strconv.Itoa(i)
		copied = append(copied, timedRun(t, j, dir, "cp", "-r", "--reflink=never", from, one))
		cloned = append(cloned, timedRun(t, j, dir, "cp", "-r", from, two))
		theirEnds = append(theirEnds, timedRun(t, j, dir, "rm", "-rf", two))
		timedRun(t, j, dir, "rm", "-rf", one)
		ours = append(ours, timedRun(t, j, dir, b.ours, "workspace", "create", "--kind", "temp", "--from", from, "--in", mount, "--job", job))
		ourEnds = append(ourEnds, timedRun(t, j, dir, b.ours, "workspace", "rm", job))
	}
	t.Logf("in turns, ms: cp %.0f, cp with reflinks %.0f, workspace create %.0f, rm -rf %.0f, workspace rm %.0f", copied, cloned, ours, theirEnds, ourEnds)
	b.add(
		row{
			what:   fmt.Sprintf("workspace of a directory of %d files of 10 MiB on btrfs (today: cp -r that copies)", bigFiles),
			theirs: percentile(copied, 50), ours: percentile(ours, 50), unit: "ms", target: 0.2 * percentile(copied, 50),
		},
		row{what: "… (today: cp -r of coreutils 9, which shares blocks)", theirs: percentile(cloned, 50), ours: percentile(ours, 50), unit: "ms", target: unknown},
		row{what: "… removed (today: rm -rf)", theirs: percentile(theirEnds, 50), ours: percentile(ourEnds, 50), unit: "ms", target: percentile(theirEnds, 50)},
	)
}

// listMany lists many workspaces.
func (b *bench) listMany(t *testing.T, j e2e.Jobs) {
	for i := range listedAtOnce {
		timedRun(t, j, j.Dir, b.ours, "workspace", "create", "--kind", "persistent", "--job", "many-"+strconv.Itoa(i))
	}
	var times []float64
	for range workspaceLists {
		times = append(times, timedRun(t, j, j.Dir, b.ours, "workspace", "list", "--json"))
	}
	b.add(row{what: fmt.Sprintf("%d workspaces listed, p50 of %d", listedAtOnce, workspaceLists), theirs: unknown, ours: percentile(times, 50), unit: "ms", target: 100})
}
