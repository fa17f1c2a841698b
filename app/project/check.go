package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/monitor"
)

// longestPath bounds the path of a project, in bytes.
const longestPath = 4096

// Check returns the path of a project as servers are to be given it: absolute,
// in the plain spelling, with its symbolic links. The error says what is wrong
// with it, or is that of ctx.
func Check(ctx context.Context, l *Looks, path string) (string, error) {
	dir, err := plain(path)
	if err != nil {
		return "", err
	}
	switch wrong, err := Look(ctx, l, "project", path, readable); {
	case errors.Is(err, ErrSilent):
		return "", fmt.Errorf("%q does not answer within %s", path, monitor.Span(l.Limit))
	case err != nil:
		return "", err
	case wrong != nil:
		return "", wrong
	}
	return dir, nil
}

// plain is an absolute path in its plain spelling.
func plain(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("it is empty")
	case len(path) > longestPath:
		return "", fmt.Errorf("it is longer than %d bytes", longestPath)
	case strings.ContainsRune(path, 0):
		return "", errors.New("it contains a zero byte")
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("%q is not absolute", path)
	}
	return filepath.Clean(path), nil
}

// readable says what is wrong with the directory at a path.
func readable(path string) error {
	info, err := os.Stat(path) // opening another thing may block, or do something
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is no directory", path)
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if _, err := dir.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	// To read names is one permission, to reach what has them another one.
	if _, err := os.Stat(path + string(filepath.Separator) + "."); err != nil {
		return err
	}
	// Where ".." follows a symbolic link, the plain spelling is another place.
	if clean := filepath.Clean(path); clean != path {
		same, err := os.Stat(clean)
		if err != nil {
			return err
		}
		if !os.SameFile(info, same) {
			return fmt.Errorf("%q is not what %q leads to", clean, path)
		}
	}
	return nil
}
