package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/app/share/wire"
)

func frameOf(line string) []byte { return append(make([]byte, wire.HeaderLength), line...) }

// fates is what is known of each line from outside of the book.
type fates struct {
	book     book
	lines    int
	sent     []uint64        // on the present connection, in order
	accepted map[uint64]bool // ever
	answered map[uint64]int
	expired  map[uint64]bool
}

func (f *fates) count(t *rapid.T, lines [][]byte) {
	for _, line := range lines {
		m := wire.Split(line)
		if m.Kind != wire.Response || m.Error == nil {
			t.Fatalf("%s is no error", line)
		}
		var id uint64
		for _, c := range m.ID {
			id = 10*id + uint64(c-'0')
		}
		f.answered[id]++
	}
}

// TestBook: each request is answered once, each line is accepted at most once,
// and what is sent is sent in order.
func TestBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fates{accepted: map[uint64]bool{}, answered: map[uint64]int{}, expired: map[uint64]bool{}}
		now := time.Unix(1000, 0)
		pick := func(of []uint64) uint64 {
			if len(of) == 0 || rapid.IntRange(0, 9).Draw(t, "strange") == 0 {
				return uint64(rapid.IntRange(0, 60).Draw(t, "number"))
			}
			return rapid.SampledFrom(of).Draw(t, "line")
		}
		t.Repeat(map[string]func(*rapid.T){
			"line": func(*rapid.T) {
				f.lines++
				f.book.add(wire.Line, frameOf(request(f.lines)), now)
			},
			"send": func(t *rapid.T) {
				for frame := f.book.next(); frame != nil; frame = f.book.next() {
					h, err := wire.ParseHeader(frame)
					if err != nil || string(frame[wire.HeaderLength:]) != request(int(h.Seq)) {
						t.Fatalf("it sends %q", frame)
					}
					if len(f.sent) > 0 && h.Seq <= f.sent[len(f.sent)-1] {
						t.Fatalf("it sends %d after %v", h.Seq, f.sent)
					}
					if f.accepted[h.Seq] || f.answered[h.Seq] > 0 {
						t.Fatalf("it sends %d again", h.Seq)
					}
					f.sent = append(f.sent, h.Seq)
				}
			},
			"accept": func(t *rapid.T) {
				seq := pick(f.sent)
				ok := f.book.accept(seq)
				if want := slices.Contains(f.sent, seq) && !f.accepted[seq]; ok != want {
					t.Fatalf("accepting %d: %v", seq, ok)
				}
				f.accepted[seq] = f.accepted[seq] || ok
			},
			"answer": func(t *rapid.T) {
				seq := pick(f.sent)
				if f.expired[seq] {
					if f.book.settle(seq) {
						t.Fatalf("%d is answered after it has expired", seq)
					}
					return
				}
				if seq == 0 || f.answered[seq] > 0 && slices.Contains(f.sent, seq) {
					return // only a background process that errs answers twice
				}
				ok := f.book.settle(seq)
				if want := slices.Contains(f.sent, seq); ok != want {
					t.Fatalf("answering %d: %v, it has sent %v", seq, ok, f.sent)
				}
				if ok {
					f.answered[seq]++
					f.accepted[seq] = true
				}
			},
			"lose": func(t *rapid.T) {
				f.count(t, f.book.disconnected())
				f.sent = nil
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Second)
				lines := f.book.expire(now.Add(-3*time.Second), "why", "why, and it was sent")
				f.count(t, lines)
				for _, line := range lines {
					seq, err := strconv.ParseUint(string(wire.Split(line).ID), 10, 64)
					if err != nil || f.accepted[seq] || strings.Contains(string(line), "it was sent") != slices.Contains(f.sent, seq) {
						t.Fatalf("%s, %v: accepted were %v, sent %v", line, err, f.accepted, f.sent)
					}
					f.expired[seq] = true
				}
			},
			"": func(t *rapid.T) {
				size := 0
				for _, e := range f.book.waiting {
					size += len(e.frame)
				}
				if size != f.book.size {
					t.Fatalf("%d bytes wait, not %d", size, f.book.size)
				}
				for seq, n := range f.answered {
					if n > 1 {
						t.Fatalf("%d is answered %d times", seq, n)
					}
				}
			},
		})
		f.count(t, f.book.giveUp("the end"))
		for seq := range f.lines {
			if n := f.answered[uint64(seq+1)]; n != 1 {
				t.Fatalf("%d is answered %d times", seq+1, n)
			}
		}
		if !f.book.isDone(true) || !f.book.isDone(false) {
			t.Error("something is left")
		}
	})
}

// TestWhatHasToBeAnswered: when nobody will carry it out.
func TestWhatHasToBeAnswered(t *testing.T) {
	var b book
	for _, line := range []string{request(1), `{"method":"notifications/x"}`, `{"id":3,"result":{}}`, "garbage", "[]", `{"id":"s","method":"ping"}`} {
		b.add(wire.Line, frameOf(line), time.Time{})
	}
	b.add(wire.Long, frameOf(`{"id":7,"method":"`), time.Time{})
	if b.isDone(false) || b.isDone(true) {
		t.Error("nothing has to be answered")
	}
	var ids []string
	for _, line := range b.giveUp("because") {
		m := wire.Split(line)
		if !strings.Contains(string(m.Error), "because") {
			t.Errorf("%s", line)
		}
		ids = append(ids, string(m.ID))
	}
	if !slices.Equal(ids, []string{"1", "null", "null", `"s"`, "null"}) {
		t.Errorf("answered are %s", ids)
	}
}

// TestUsed: memory is used again, but not for long texts.
func TestUsed(t *testing.T) {
	var u used
	first := append(u.take(10), "text"...)
	u.put(first)
	if again := u.take(100); len(again) != 0 || &again[:1][0] != &first[0] {
		t.Error("it is not used again")
	}
	u.put(make([]byte, usedLength+1))
	for range 2 * usedCount {
		u.put(make([]byte, 8))
	}
	if len(u.free) != usedCount {
		t.Errorf("%d are kept", len(u.free))
	}
	if got := u.take(9); cap(got) < 9 {
		t.Errorf("there is room for %d", cap(got))
	}
}
