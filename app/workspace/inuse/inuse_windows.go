package inuse

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v3/process"
)

// within looks at working directories and programs. Windows has no way to ask
// which files a process has open that is made for that; see the package.
func within(ctx context.Context, dir string) ([]Process, error) {
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, pid := range pids {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if int(pid) == os.Getpid() || pid <= 4 { // Idle and System have neither
			continue
		}
		p := &process.Process{Pid: pid}
		how := ""
		// What cannot be read is another user's, or has ended.
		if cwd, err := p.CwdWithContext(ctx); err == nil && contains(dir, cwd) {
			how = worksIn(filepath.Clean(cwd))
		} else if exe, err := p.ExeWithContext(ctx); err == nil && contains(dir, exe) {
			how = runs(exe)
		}
		if how == "" {
			continue
		}
		name, _ := p.NameWithContext(ctx)
		found = append(found, Process{PID: int(pid), Name: name, How: how})
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// contains reports whether a path is dir or below it. Windows does not tell small
// and capital letters apart.
func contains(dir, path string) bool {
	if path == "" {
		return false
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(strings.ToLower(dir), strings.ToLower(path))
	return err == nil && filepath.IsLocal(rel)
}
