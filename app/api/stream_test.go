package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

func TestStreamEndsWithTheReadersError(t *testing.T) {
	m := newModel()
	srv := serve(t, m, shower{}, nil)
	enough := errors.New("enough")
	if err := srv.dial(t).Stream(t.Context(), func(Instances) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
	apptest.Eventually(t, "the server forgets the reader", func() bool { return m.subscribers() == 0 })
}

func TestStreamEndsWithTheServer(t *testing.T) {
	srv := serve(t, newModel(), shower{}, nil)
	first := make(chan struct{}, 1)
	ended := make(chan error, 1)
	client := srv.dial(t)
	go func() {
		ended <- client.Stream(t.Context(), func(Instances) error { first <- struct{}{}; return nil })
	}()
	<-first
	srv.stop(t)
	if err := <-ended; !errors.Is(err, ErrUnreachable) {
		t.Errorf("ended with %v", err)
	}
}

// A reader that does not read delays neither the model nor other readers nor
// the end, and gets the newest snapshot when it reads again.
func TestSlowReader(t *testing.T) {
	m := newModel()
	srv := serve(t, m, shower{}, nil)
	slow, err := dialRaw(t.Context(), srv.path)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := io.WriteString(slow, "GET /global-dashboard/stream HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "the slow reader is there", func() bool { return m.subscribers() == 1 })

	seen := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	fast := srv.dial(t)
	go func() {
		ended <- fast.Stream(ctx, func(list Instances) error {
			if len(list.Instances) > 0 {
				select {
				case <-seen:
				default:
				}
				seen <- *list.Instances[0].Version
			}
			return nil
		})
	}()
	// Far more than any socket buffer holds.
	large := make([]monitor.Instance, 200)
	for i := range large {
		large[i] = instance(i+1, strings.Repeat("x", 2000))
	}
	const last = 40
	for n := 1; n <= last; n++ {
		s := snapshot(slices.Clone(large)...)
		s.Instances[0].Version = fmt.Sprint(n)
		m.set(s)
	}
	apptest.Eventually(t, "the fast reader has the newest", func() bool {
		select {
		case v := <-seen:
			return v == fmt.Sprint(last)
		default:
			return false
		}
	})
	cancel()
	<-ended

	if err := slow.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	newest := []byte(fmt.Sprintf(`"version":"%d"`, last))
	for buf := make([]byte, 1<<20); !bytes.Contains(got.Bytes(), newest); {
		n, err := slow.Read(buf)
		if err != nil {
			t.Fatalf("after %d bytes: %v", got.Len(), err)
		}
		got.Write(buf[:n])
	}
	if events := bytes.Count(got.Bytes(), []byte("data: ")); events >= last {
		t.Errorf("the slow reader was sent all %d events", events)
	}
}

func TestStopsWhileAReaderIsStuck(t *testing.T) {
	m := newModel()
	large := make([]monitor.Instance, 2000)
	for i := range large {
		large[i] = instance(i+1, strings.Repeat("x", 2000))
	}
	m.set(snapshot(large...))
	srv := serve(t, m, shower{}, nil)
	stuck, err := dialRaw(t.Context(), srv.path)
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Close()
	if _, err := io.WriteString(stuck, "GET /global-dashboard/stream HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "the reader is there", func() bool { return m.subscribers() == 1 })
	srv.stop(t)
}
