package session

import "lamplighter/monitor"

// asker is who asked for a session. To find that out takes some milliseconds, so
// its server starts meanwhile.
type asker struct {
	known  chan struct{}
	client monitor.Client // may be read when known is closed
}

// findAsker begins to find out; nil finds nobody.
func findAsker(find func() monitor.Client) *asker {
	a := &asker{known: make(chan struct{})}
	if find == nil {
		close(a.known)
		return a
	}
	go func() {
		defer close(a.known)
		a.client = find()
	}()
	return a
}

// wait returns who asked when that is known, zero when it cannot be.
func (a *asker) wait() monitor.Client {
	<-a.known
	return a.client
}

// now returns who asked if that is known by now.
func (a *asker) now() monitor.Client {
	select {
	case <-a.known:
		return a.client
	default:
		return monitor.Client{}
	}
}
