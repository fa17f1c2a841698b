package proxy

import (
	"context"
	"fmt"
	"time"

	"lamplighter/app/share/wire"
)

// rootsID begins the ids under which we ask a client for its roots, before the number of the
// call that needs them: an answer that comes late may tell what the roots were, and nobody
// takes it. Serena counts its own.
const rootsID = "lamplighter-roots-"

// rootsTime is how long a client may take to tell its roots, for which its call waits.
const rootsTime = 5 * time.Second

// findProject asks a client for its roots, when a call of it needs a project, and gives it
// the project that they name, or none. It asks again only after they have changed or that
// project could not be activated, which is the error, and never after the client has
// activated a project by itself.
func (s *Session) findProject(ctx context.Context, it *item) (err error) {
	client, _ := readMembers(wire.Split(s.initializeLine).Params)
	ask := s.askRoots && isGiven(client.Capabilities.Roots)
	s.askRoots = false
	if !ask {
		return nil
	}
	s.project = "" // until they name another one
	id := fmt.Sprint(rootsID, it.seq)
	roots := make(chan []byte, 1)
	s.asked[id] = question{roots: roots}
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"method":"roots/list"}`, id)
	s.accept(it)
	s.write(func() error { return s.o.Out.Deliver(it.seq, false, line) })
	var project string
	s.outside(func() {
		select {
		case result := <-roots:
			var addresses []string
			answer, ok := readMembers(result)
			for _, root := range answer.Roots {
				addresses = append(addresses, root.URI)
			}
			if ok {
				project = s.o.Root(ctx, addresses)
			}
		case <-time.After(rootsTime):
			s.o.Log.Debug("A client does not tell its roots")
		case <-ctx.Done():
		}
	})
	if project == "" {
		return nil
	}
	s.project, _, err = s.move(ctx, it, project)
	s.askRoots = s.askRoots || err != nil
	return err
}
