package proxy

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
)

// shim is the client's side of the conversation, as lamplighter-connect is: it
// outlives the processes that serve it.
type modelShim struct {
	mu       sync.Mutex
	seq      uint64
	waiting  []numbered      // lines that are not accepted
	accepted map[uint64]bool // requests without an answer
	fates    map[uint64][]string
	ids      map[uint64]string // of the requests
	begun    [2]string         // the client's initialize, with its answer, and its notifications/initialized
	moved    bool              // to project, as it was told
	project  string
	wrong    []string
}

type numbered struct {
	seq  uint64
	line string
}

// process is one process that sessions.
type leasing struct {
	shim  *modelShim
	lost  bool // guarded by the shim's mu
	lease *Session
	leave context.CancelFunc
	ended chan error
}

func (p *leasing) Accept(seq uint64) error {
	s := p.shim
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.lost {
		return io.ErrClosedPipe
	}
	at := slices.IndexFunc(s.waiting, func(n numbered) bool { return n.seq == seq })
	if at < 0 {
		s.wrong = append(s.wrong, fmt.Sprintf("%d was accepted again", seq))
		return nil
	}
	if wire.Split([]byte(s.waiting[at].line)).Kind.NeedsAnswer() {
		s.accepted[seq] = true
	}
	if line := s.waiting[at].line; wire.Split([]byte(line)).Method == "notifications/initialized" {
		s.begun[1] = line
	}
	s.waiting = slices.Delete(s.waiting, at, at+1)
	return nil
}

func (p *leasing) Deliver(seq uint64, answer bool, text []byte) error {
	s, line := p.shim, string(text)
	if text == nil {
		line = "settled"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.lost {
		return io.ErrClosedPipe
	}
	if !answer {
		if strings.Contains(line, "it does not answer") && len(s.fates[seq]) > 0 {
			s.wrong = append(s.wrong, fmt.Sprintf("%d was told, and then that it waits", seq))
		}
		return nil
	}
	if _, ok := s.accepted[seq]; !ok {
		s.wrong = append(s.wrong, fmt.Sprintf("%d was told %s, and was not accepted, or told before", seq, line))
	}
	delete(s.accepted, seq)
	if s.ids[seq] == "0" && wire.Split([]byte(line)).Result != nil {
		s.begun[0] = initializeLine
	}
	s.fates[seq] = append(s.fates[seq], line)
	return nil
}

func (p *leasing) Moved(project string) error {
	s := p.shim
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.lost {
		return io.ErrClosedPipe
	}
	s.moved, s.project = true, project
	return nil
}

// put sends a line.
func (s *modelShim) put(p *leasing, id, line string) {
	s.mu.Lock()
	s.seq++
	seq := s.seq
	s.waiting = append(s.waiting, numbered{seq, line})
	if id != "" {
		s.ids[seq] = id
	}
	s.mu.Unlock()
	p.lease.Take(seq, []byte(line))
}

// untold are the requests without a fate.
func (s *modelShim) untold() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []uint64
	for seq := range s.ids {
		if len(s.fates[seq]) == 0 {
			list = append(list, seq)
		}
	}
	slices.Sort(list)
	return list
}

// start begins another process, after the one before was lost.
func (s *modelShim) start(w *upstream, g *fakeGroup) *leasing {
	p := &leasing{shim: s, ended: make(chan error, 1)}
	s.mu.Lock()
	begun := s.begun
	again := slices.Clone(s.waiting)
	s.mu.Unlock()
	p.lease = sessionOf(SessionOptions{Servers: g, Out: p, Initialize: []byte(begun[0]), Initialized: []byte(begun[1])})
	ctx, cancel := context.WithCancel(context.Background())
	p.leave = cancel
	go func() { p.ended <- p.lease.Serve(ctx) }()
	for _, n := range again {
		p.lease.Take(n.seq, []byte(n.line))
	}
	return p
}

// lose is the death of a process: the shim tells the fate of what it had
// accepted.
func (s *modelShim) lose(p *leasing) {
	s.mu.Lock()
	p.lost = true
	for seq := range s.accepted {
		s.fates[seq] = append(s.fates[seq], string(wire.ErrorLine([]byte(s.ids[seq]), wire.CodeInternal, "lost")))
	}
	clear(s.accepted)
	s.mu.Unlock()
	p.leave()
	<-p.ended
}

// TestEachRequestHasOneFate lets everything happen in any order: clients send
// and cancel, the server answers, loses, forgets, hangs and dies, and lamplighter is
// started again.
func TestEachRequestHasOneFate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inOneBubble(t, func() {
			t := rt
			w := newUpstream()
			g := w.group()
			s := &modelShim{accepted: map[uint64]bool{}, fates: map[uint64][]string{}, ids: map[uint64]string{}}
			p := s.start(w, g)
			defer func() { // also when the check has failed
				p.leave()
				w.die()
				g.fell()
				time.Sleep(2 * unseen)
			}()
			s.put(p, "0", initializeLine)
			s.put(p, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			synctest.Wait()
			next := 0
			t.Repeat(map[string]func(*rapid.T){
				"request": func(t *rapid.T) {
					next++
					id := fmt.Sprint(next)
					s.put(p, id, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"t"}}}`)
				},
				"request twice": func(t *rapid.T) {
					if next == 0 {
						return
					}
					id := fmt.Sprint(rapid.IntRange(1, next).Draw(t, "id"))
					s.put(p, id, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"x","again":true}}`)
					w.mu.Lock()
					w.carried[id]-- // its id may be carried out once more
					w.mu.Unlock()
				},
				"ping":         func(*rapid.T) { s.put(p, `"p"`, `{"jsonrpc":"2.0","id":"p","method":"ping"}`) },
				"garbage":      func(*rapid.T) { s.put(p, "null", `{`) },
				"notification": func(*rapid.T) { s.put(p, "", `{"jsonrpc":"2.0","method":"notifications/x"}`) },
				"cancel": func(t *rapid.T) {
					id := rapid.IntRange(0, next).Draw(t, "id")
					s.put(p, "", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
				},
				"answer": func(t *rapid.T) {
					if c := w.take(rapid.IntRange(0, 100).Draw(t, "which")); c != nil {
						c.answer(true)
					}
				},
				"no answer": func(t *rapid.T) {
					if c := w.take(rapid.IntRange(0, 100).Draw(t, "which")); c != nil {
						c.answer(false)
					}
				},
				"lost": func(t *rapid.T) {
					if c := w.take(rapid.IntRange(0, 100).Draw(t, "which")); c != nil {
						w.mu.Lock()
						w.carried[c.id]++
						w.mu.Unlock()
						c.end(mcp.ErrLost)
					}
				},
				"not sent": func(t *rapid.T) {
					if c := w.take(rapid.IntRange(0, 100).Draw(t, "which")); c != nil {
						c.end(mcp.ErrNotSent)
					}
				},
				"unknown": func(t *rapid.T) {
					if c := w.take(rapid.IntRange(0, 100).Draw(t, "which")); c != nil {
						w.forget()
						c.end(mcp.ErrUnknown)
					}
				},
				"refused": func(t *rapid.T) {
					if c := w.take(rapid.IntRange(0, 100).Draw(t, "which")); c != nil {
						c.end(&mcp.Refused{Status: 413, Text: "too long"})
					}
				},
				"progress and strays": func(t *rapid.T) {
					w.mu.Lock()
					calls := slices.Clone(w.calls)
					w.mu.Unlock()
					for _, c := range calls {
						c.each([]byte(`{"jsonrpc":"2.0","method":"notifications/progress"}`))
						c.each([]byte(`{"jsonrpc":"2.0","id":"stray","result":{}}`))
						c.each([]byte(`{"jsonrpc":"2.0","id":7777,"method":"roots/list"}`))
					}
				},
				"forget": func(*rapid.T) { w.forget() },
				"die": func(*rapid.T) {
					w.die()
					g.fell()
				},
				"die, and be noticed later": func(t *rapid.T) {
					w.die()
					time.Sleep(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
					g.fell()
				},
				"hang, or no longer": func(t *rapid.T) {
					switch runs, hangs := g.isHung(); {
					case hangs:
						g.answers(rapid.Bool().Draw(t, "answers again"))
					case runs:
						g.hang()
					}
				},
				"park": func(*rapid.T) {
					if runs, hangs := g.isHung(); runs && !hangs && g.open() == 0 {
						g.hang() // from now on nothing begins
						w.die()
						g.answers(false)
					}
				},
				"another process": func(*rapid.T) {
					s.lose(p)
					w.leave()
					p = s.start(w, g)
				},
				"time": func(t *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(0, 30000).Draw(t, "ms")) * time.Millisecond)
				},
				"": func(t *rapid.T) {
					if rapid.Bool().Draw(t, "settle") {
						synctest.Wait()
					}
					check(t, w, s)
				},
			})
			if _, hangs := g.isHung(); hangs {
				g.answers(true)
			}
			for range 1000 {
				time.Sleep(time.Second)
				synctest.Wait()
				if len(s.untold()) == 0 {
					break
				}
				if c := w.take(0); c != nil {
					c.answer(true)
				}
			}
			if untold := s.untold(); len(untold) > 0 {
				t.Errorf("the fate of %v was never told", untold)
			}
			synctest.Wait()
			check(t, w, s)
			p.lease.Gone()
			if err := <-p.ended; err != nil {
				t.Error(err)
			}
			p.leave()
			time.Sleep(2 * unseen)
			synctest.Wait()
			if open := g.open(); open != 0 {
				t.Errorf("%d brackets are open", open)
			}
			for id, isLeft := range w.sessions {
				if !isLeft {
					t.Errorf("the session %s is open", id)
				}
			}
		})
	})
}

// inOneBubble lets rapid stop a check that runs in a bubble.
func inOneBubble(t *testing.T, check func()) {
	t.Helper()
	var stopped any
	synctest.Test(t, func(*testing.T) {
		defer func() { stopped = recover() }()
		check()
	})
	if stopped != nil {
		panic(stopped)
	}
}

func check(t *rapid.T, w *upstream, s *modelShim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq, fates := range s.fates {
		if len(fates) > 1 {
			t.Errorf("%d has %d fates: %s", seq, len(fates), fates)
		}
		if line := fates[0]; line != "settled" && string(wire.Split([]byte(line)).ID) != s.ids[seq] {
			t.Errorf("%d of id %s was answered %s", seq, s.ids[seq], line)
		}
	}
	for _, wrong := range s.wrong {
		t.Error(wrong)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, n := range w.carried {
		if n > 1 {
			t.Errorf("%s was carried out %d times", id, n)
		}
	}
}
