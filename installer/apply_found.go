package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// foundNothing is what found says of a path at which nothing lies.
const foundNothing = "nothing"

// found says what lies at a path, so that something else that lies there later
// is told from it: its content, where a link leads, or what else it is.
func found(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case isGone(err):
		return foundNothing, nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return "link " + to, err
	case !info.Mode().IsRegular():
		return "type " + info.Mode().Type().String(), nil
	}
	digest, err := digestFile(path)
	if isGone(err) {
		return foundNothing, nil
	}
	return "content " + digest, err
}

// isGone tells an error of what is not there. A file in what is no directory any
// more is not there, either.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// sameName reports whether two names are of the same file, or link.
func sameName(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// look notes what lies where the plan changes something. Between a plan and its
// end lies a question to the user, who may take his time.
func (p *Plan) look() {
	for n := range p.Changes {
		c := &p.Changes[n]
		switch c.Op {
		case OpWrite, OpCopy, OpLink, OpRemove:
			c.was, _ = found(c.Path) // what cannot be read is not known
		}
	}
}

// stale reports whether something else lies there by now.
func (p Plan) stale() bool {
	for _, c := range p.Changes {
		if c.was == "" {
			continue
		}
		if now, err := found(c.Path); err == nil && now != c.was {
			return true
		}
	}
	return false
}

// changed is the error about a file that somebody has changed meanwhile.
func changed(path string) error {
	return fmt.Errorf("%s was changed by somebody else meanwhile; run it again", shown(path))
}
