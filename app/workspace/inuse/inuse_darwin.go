package inuse

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
)

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
