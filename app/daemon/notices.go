package daemon

import (
	"maps"
	"slices"
	"sync"
)

// subject is what a notice is about. Notices are shown in the order of their
// subjects.
type subject int

const (
	aboutSettings subject = iota
	aboutSerenaSettings
	aboutState
	aboutLog
	aboutLock
	aboutControl
	aboutShareSocket
	aboutBus
	aboutIdleShutdown
	aboutDashboard
	aboutSessions
	aboutSessionPort
	aboutRegistry
	aboutPins
	aboutPolicies
	aboutLogin
)

// notices are the sentences that every view shows, by what they are about. The
// zero value works. It is safe for concurrent use.
type notices struct {
	mu      sync.Mutex
	current map[subject][]string
	shower  func([]string)
}

// set replaces what is said about a subject, and tells whether that is something
// else; nothing takes it back.
func (n *notices) set(about subject, sentences ...string) (changed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.current == nil {
		n.current = make(map[subject][]string)
	}
	if slices.Equal(n.current[about], sentences) {
		return false
	}
	n.current[about] = slices.Clone(sentences)
	n.tell()
	return true
}

// show hands all sentences to f, now and at each change.
func (n *notices) show(f func([]string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shower = f
	n.tell()
}

func (n *notices) tell() {
	if n.shower == nil {
		return
	}
	var all []string
	for _, about := range slices.Sorted(maps.Keys(n.current)) {
		all = append(all, n.current[about]...)
	}
	n.shower(all)
}
