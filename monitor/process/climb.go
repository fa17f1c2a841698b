package process

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"lamplighter/monitor"
)

// maxWrappers bounds the climb; real chains have up to four links.
const maxWrappers = 8

// Climb finds the topmost wrapper of a server, which is the server itself
// where there is none, and the client above it: nil when that is gone and an
// init process has adopted the tree.
//
// A wrapper exists for the server alone: it is a launcher by its executable and
// arguments (uvx, npm exec, sh -c), it has no other living child, and its
// standard input is the server's. The server may have moved that one away and
// put the null device in its place; then it has to have it somewhere. The rule
// is the same for a server that listens, whose input is a terminal, a file or
// the null device: both must have the same one. A server without an input of
// its own under a launcher that has one counts as not wrapped, which leaves the
// launcher alone. Windows and macOS do not tell what standard input is, so
// there the first two conditions decide.
//
// The error is ErrGone when the server itself is gone. Whatever cannot be
// learnt about a process above it ends the climb there.
func Climb(s System, server Info, isLauncher func(Info) bool) (root monitor.Identity, client *Info, err error) {
	root = server.Identity
	below := server.Identity
	for range maxWrappers {
		now, err := s.Stat(below.PID)
		if err == nil && now.Identity != below {
			err = gone(below.PID)
		}
		if errors.Is(err, ErrGone) && below != server.Identity {
			return root, nil, nil
		}
		if err != nil {
			return root, nil, err
		}
		parent, err := s.Read(now.Parent)
		if err != nil || parent.Start > now.Start || Adopts(parent) {
			return root, nil, nil
		}
		if !isLauncher(parent) || !onlyChild(s, parent.Identity, below) || !s.Ends(server.Identity).SameInput(parent.Identity) {
			return root, &parent, nil
		}
		root, below = parent.Identity, parent.Identity
	}
	return root, nil, nil
}

// onlyChild reports whether child is the only living child of parent, beside the
// host of a console, which Windows adds.
func onlyChild(s System, parent, child monitor.Identity) bool {
	tree, err := s.Tree(parent)
	if err != nil {
		return false
	}
	found := false
	for _, p := range tree {
		switch {
		case p.Parent != parent.PID || p.State == Unreaped:
		case p.Identity == child:
			found = true
		default:
			info, err := s.Read(p.PID)
			if gone := errors.Is(err, ErrGone); !gone && (err != nil || !strings.EqualFold(info.Name, "conhost")) {
				return false
			}
		}
	}
	return found
}

// treeOf is the stat of root and of all below it, each parent before its children:
// children lists who may be below a process. What ends meanwhile is left out. A child
// that started before its parent is none: its real parent has ended, and the pid was
// reused.
func treeOf(root monitor.Identity, stat func(pid int) (Stat, error), children func(pid int) ([]int, error)) ([]Stat, error) {
	s, err := stat(root.PID)
	if err == nil && s.Identity != root {
		err = gone(root.PID)
	}
	if err != nil {
		return nil, err
	}
	tree := []Stat{s}
	in := map[int]bool{root.PID: true}
	for i := 0; i < len(tree); i++ {
		tree[i].RSSBytes, _ = ResidentMemory(tree[i].PID)
		parent := tree[i]
		pids, err := children(parent.PID)
		if err != nil && !errors.Is(err, ErrGone) {
			return nil, err
		}
		for _, pid := range pids {
			s, err := stat(pid)
			if err != nil && !errors.Is(err, ErrGone) {
				return nil, err
			}
			if err == nil && !in[pid] && s.Parent == parent.PID && s.Start >= parent.Start {
				in[pid] = true
				tree = append(tree, s)
			}
		}
	}
	return tree, nil
}

// Adopts reports whether a process takes in what others leave behind. It is nobody's
// client: PID 1, the service manager of a user, WSL's init. Another one that does so is
// not known: nothing tells what it has taken in from what it has started.
func Adopts(p Info) bool {
	return p.PID == 1 || p.Name == "systemd" || p.Name == "init" || p.Name == "launchd" || p.Exe == "/init"
}

// maxAncestors bounds the climb, which the kernel's tables make finite anyway.
const maxAncestors = 256

// Above are the processes above one, its parent first. It stops where
// the parent is gone (its pid may have another process by now, which started
// later than its child) or may not be looked at, as the topmost ones on
// Windows. The error is ErrGone when the process itself is gone.
func Above(s System, pid int) ([]monitor.Identity, error) {
	child, err := s.Stat(pid)
	if err != nil {
		return nil, err
	}
	var above []monitor.Identity
	for range maxAncestors {
		parent, err := s.Stat(child.Parent)
		if errors.Is(err, ErrGone) {
			// Its parent has ended just now, or long ago. Where orphans are
			// adopted it has another one by now.
			again, err := s.Stat(child.PID)
			if err != nil || again.Identity != child.Identity || again.Parent == child.Parent {
				return above, nil
			}
			child = again
			continue
		}
		if errors.Is(err, fs.ErrPermission) {
			return above, nil
		}
		if err != nil {
			return nil, fmt.Errorf("looking for the ancestors of process %d: %w", pid, err)
		}
		if parent.Start > child.Start || parent.PID == child.PID {
			return above, nil
		}
		above = append(above, parent.Identity)
		child = parent
	}
	return nil, fmt.Errorf("looking for the ancestors of process %d: it has more than %d", pid, maxAncestors)
}
