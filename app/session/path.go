package session

import (
	"context"
	"fmt"
	"time"

	"lamplighter/app/project"
)

// The bounds of looks at the paths of projects.
const (
	lookTime  = 5 * time.Second
	mostLooks = 256
)

// CheckPath is what a Manager makes of the path of a project, or has against it.
func CheckPath(ctx context.Context, path string) (string, error) {
	return checkPath(ctx, &project.Looks{Limit: lookTime}, path)
}

// checkPath is project.Check. The error Is ErrBadPath, or ErrNotWanted when ctx
// is done.
func checkPath(ctx context.Context, l *project.Looks, path string) (string, error) {
	dir, err := project.Check(ctx, l, path)
	switch {
	case err == nil:
		return dir, nil
	case ctx.Err() != nil:
		return "", ErrNotWanted
	}
	return "", fmt.Errorf("%w: %w", ErrBadPath, err)
}
