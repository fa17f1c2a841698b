package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// share is a Share that is yet to be made.
type share struct {
	Share
	asked string // as it was asked for
	local bool   // it is a part of the source, which is left out of a copy
}

// planShares checks what is to be shared: a directory that is there, relative to
// the source and inside of it whatever links say, or absolute and under its base
// name.
func (p *blueprint) planShares() ([]share, error) {
	within, err := ancestry(p.in)
	if err != nil {
		return nil, err
	}
	var list []share
	for _, asked := range p.q.Share {
		s, err := p.planShare(asked)
		if err != nil {
			return nil, refuse("%q cannot be shared: %w", asked, err)
		}
		id, err := tree.Identity(s.From)
		if err != nil {
			return nil, refuse("%q cannot be shared: %w", asked, err)
		}
		if within[id] {
			return nil, refuse("%q cannot be shared: the workspace would be in it", asked)
		}
		for _, other := range list {
			if overlap(s.To, other.To) {
				return nil, refuse("%q and %q cannot both be shared: one lies in the place of the other", other.asked, asked)
			}
		}
		list = append(list, s)
	}
	return list, nil
}

func (p *blueprint) planShare(asked string) (share, error) {
	s := share{asked: asked}
	var place string // in the tree
	if strings.ContainsFunc(asked, monitor.Unprintable) {
		return s, errors.New("it has control characters")
	}
	if filepath.IsAbs(asked) {
		place = filepath.Base(filepath.Clean(asked))
		var err error
		if s.From, err = directory(asked); err != nil {
			return s, err
		}
	} else {
		top := p.from
		if p.git {
			top = p.repo.Top
		}
		if top == "" {
			return s, errors.New("there is no directory that it could be a part of; name it by its absolute path")
		}
		var err error
		if s.From, place, err = inSource(p.from, top, asked); err != nil {
			return s, err
		}
		s.local = true
	}
	s.To = filepath.ToSlash(place)
	if first, _, _ := strings.Cut(s.To, "/"); !filepath.IsLocal(place) || s.To == "." || strings.EqualFold(first, ".git") {
		return s, fmt.Errorf("nothing may lie in its place, %q", s.To)
	}
	return s, nil
}

// inSource is where a relative share is, without links, and its place below top.
// Links on the way are followed, and have to stay inside of the source.
func inSource(source, top, asked string) (from, place string, err error) {
	if !filepath.IsLocal(asked) || filepath.Clean(asked) == "." {
		return "", "", fmt.Errorf("it leads out of %s, or is all of it", monitor.Clean(source))
	}
	whole := filepath.Join(source, asked)
	if from, err = directory(whole); err != nil {
		return "", "", err
	}
	parent, err := directory(filepath.Dir(whole))
	if err != nil {
		return "", "", err
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return "", "", err
	}
	root, err := tree.Identity(source)
	if err != nil {
		return "", "", err
	}
	for _, dir := range []string{filepath.Dir(from), parent} {
		within, err := ancestry(dir)
		if err != nil {
			return "", "", err
		}
		if !within[root] {
			return "", "", fmt.Errorf("a link on the way leads out of %s; name it by its absolute path", monitor.Clean(source))
		}
	}
	base, err := filepath.Rel(top, parent)
	if err != nil {
		return "", "", err
	}
	return from, filepath.Join(base, filepath.Base(whole)), nil
}

// overlap reports whether one of two places in a tree is in the other, on whatever
// file system.
func overlap(a, b string) bool {
	a, b = strings.ToLower(a)+"/", strings.ToLower(b)+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// skip tells what a copy of the source leaves out: what is shared, also where the
// file system has it under another spelling, and the place where the copy is
// made, which a mount may show inside of its source.
func (p *blueprint) skip(staging string) func(string) bool {
	base := filepath.Base(staging)
	return func(name string) bool {
		if path.Base(name) == base {
			return sameFile(filepath.Join(p.from, filepath.FromSlash(name)), staging)
		}
		for _, s := range p.shares {
			if !s.local || !strings.EqualFold(name, s.To) {
				continue
			}
			if name == s.To || sameFile(filepath.Join(p.from, filepath.FromSlash(name)), filepath.Join(p.from, filepath.FromSlash(s.To))) {
				return true
			}
		}
		return false
	}
}

// sameFile reports whether two paths lead to one thing, without following a link
// at their end.
func sameFile(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// ownShares are the places of shares, with slashes, at which a tree still has the
// link that we have made. What a job has put there instead is its own.
func (r *record) ownShares() []string {
	var places []string
	for _, s := range r.Shares {
		to, err := os.Readlink(filepath.Join(r.Path, filepath.FromSlash(s.To)))
		if err == nil && filepath.Clean(to) == filepath.Clean(s.From) {
			places = append(places, s.To)
		}
	}
	return places
}

// linkShares puts the shares into a tree. Nothing outside of it is touched,
// whatever links are in it.
func linkShares(dir string, shares []share) error {
	if len(shares) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, s := range shares {
		place := filepath.FromSlash(s.To)
		if parent := filepath.Dir(place); parent != "." {
			if err := root.MkdirAll(parent, 0o700); err != nil {
				return fmt.Errorf("making the place of the share %s: %w", s.To, err)
			}
		}
		switch _, err := root.Lstat(place); {
		case err == nil:
			return refuse("%q cannot be shared: something else lies in its place in the workspace; leave it out of the shares", s.asked)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("making the share %s: %w", s.To, err)
		}
		if err := link(root, s.From, place); err != nil {
			return fmt.Errorf("making the share %s: %w", s.To, err)
		}
	}
	return nil
}
