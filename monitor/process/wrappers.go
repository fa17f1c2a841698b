package process

import (
	"errors"

	"lamplighter/monitor"
)

// View is where relatives are looked for: the living system, or a table of
// processes that was recorded.
type View struct {
	Read        func(pid int) (Info, error)
	ReadStat    func(pid int) (Stat, error)
	Children    func(pid int) ([]int, error)
	SameInput   func(server, wrapper monitor.Identity) bool
	Accompanies func(pid int) bool // the system adds such a child to a program by itself
}

func living() View {
	return View{Read: Read, ReadStat: ReadStat, Children: Children, SameInput: sameInput, Accompanies: accompanies}
}

// maxWrappers bounds the climb; real chains have up to four links.
const maxWrappers = 8

// Wrappers finds the topmost wrapper of a server, which is the server itself
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
func Wrappers(server Info, isLauncher func(Info) bool) (root monitor.Identity, client *Info, err error) {
	return living().Wrappers(server, isLauncher)
}

// Wrappers is the function of that name, in this view.
func (v View) Wrappers(server Info, isLauncher func(Info) bool) (root monitor.Identity, client *Info, err error) {
	root = server.Identity
	below := server.Identity
	for range maxWrappers {
		now, err := v.ReadStat(below.PID)
		if err == nil && now.Identity != below {
			err = gone(below.PID)
		}
		if errors.Is(err, ErrGone) && below != server.Identity {
			return root, nil, nil
		}
		if err != nil {
			return root, nil, err
		}
		parent, err := v.Read(now.Parent)
		if err != nil || parent.Start > now.Start || adopts(parent) {
			return root, nil, nil
		}
		if !isLauncher(parent) || !v.onlyChild(parent.PID, below.PID) || !v.SameInput(server.Identity, parent.Identity) {
			return root, &parent, nil
		}
		root, below = parent.Identity, parent.Identity
	}
	return root, nil, nil
}

// onlyChild reports whether child is the only living child of parent.
func (v View) onlyChild(parent, child int) bool {
	children, err := v.Children(parent)
	if err != nil {
		return false
	}
	found := false
	for _, pid := range children {
		if pid == child {
			found = true
			continue
		}
		s, err := v.ReadStat(pid)
		if errors.Is(err, ErrGone) || err == nil && (s.State == Unreaped || s.Parent != parent) {
			continue
		}
		if err != nil || !v.Accompanies(pid) {
			return false
		}
	}
	return found
}

// adopts reports whether a process takes in what others leave behind. It is nobody's
// client: PID 1, the service manager of a user, WSL's init.
func adopts(p Info) bool {
	return p.PID <= 1 || p.Name == "systemd" || p.Name == "init" || p.Name == "launchd" || p.Exe == "/init"
}
