package inuse

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
)

// lsofArgs ask lsof(8) for all open files of all processes: without names of hosts
// and ports, without warnings, and one field a line. To have it look below one
// directory would make it read all of that.
var lsofArgs = []string{"-w", "-n", "-P", "-F", "pcfn"}

// lsof is part of macOS.
const lsof = "/usr/sbin/lsof"

// within asks lsof(8), which has the entitlement to look.
func within(ctx context.Context, dir string) ([]Process, error) {
	cmd := exec.CommandContext(ctx, lsof, lsofArgs...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	var failed *exec.ExitError
	// It ends with 1 also where it could not look at some process only.
	if ctx.Err() != nil || err != nil && !(errors.As(err, &failed) && failed.ExitCode() == 1 && out.Len() > 0) {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	return parseLsof(out.String(), dir, os.Getpid(), func(path string) bool {
		info, err := os.Lstat(path)
		return err == nil && info.IsDir()
	}), nil
}
