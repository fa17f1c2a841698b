package payload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const most = 256<<20 + Kept

func TestFits(t *testing.T) {
	for _, test := range []struct {
		others, length int64
		want           bool
	}{
		{0, 0, true},
		{0, most - Kept, true},
		{0, most - Kept + 1, false},
		{1, most - Kept, false},
		{most - Kept - Max - 1, Max + 1, true},
		{most - Kept - Max, Max + 1, false},
		{most - Kept, Max, true},
		{most - Max, Max, true},
		{most - Max + 1, Max, false},
		{most, 1, false},
	} {
		if got := fits(most, test.others, test.length); got != test.want {
			t.Errorf("%d bytes beside %d: %v", test.length, test.others, got)
		}
	}
}

// Twenty bodies that never end hold what there is for long ones, and no more; short
// ones are still served, and who ends gives everything back.
func TestUnfinishedBodies(t *testing.T) {
	for name, test := range map[string]struct {
		header string
		part   int // what is sent of each
		held   int // how many have room
		taken  int64
	}{
		"of a known length": {"Content-Length: 267386880", 1, 1, 255 << 20},
		"in pieces":         {"Transfer-Encoding: chunked", 20 << 20, 12, 240 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			held := make(chan error, 1)
			b := NewBudget(most)
			b.free = func() {}
			server := httptest.NewServer(b.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path == "/short" {
					if _, status, err := Read(w, req); err != nil {
						http.Error(w, err.Error(), status)
					}
					return
				}
				_, err := io.CopyN(io.Discard, req.Body, int64(test.part))
				held <- err
				if err == nil {
					_, _ = io.Copy(io.Discard, req.Body) // until the connection ends
				}
			})))
			defer server.Close()
			part := strings.Repeat(" ", test.part)
			if strings.HasPrefix(test.header, "Transfer") {
				part = fmt.Sprintf("%x\r\n%s\r\n", len(part), part)
			}
			var open []net.Conn
			for range 20 {
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				// Of one that is refused in its middle not all can be written.
				go func() {
					_, _ = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+test.header+"\r\n\r\n"+part)
				}()
				switch err := <-held; {
				case err == nil:
					open = append(open, conn)
				case !errors.Is(err, ErrFull):
					t.Errorf("body %d: %v", len(open), err)
				}
			}
			b.mu.Lock()
			taken := b.taken
			b.mu.Unlock()
			if len(open) != test.held || taken < test.taken || taken > most-Kept {
				t.Errorf("%d bodies hold %d bytes", len(open), taken)
			}
			for _, body := range []string{"", "{}", strings.Repeat(" ", Max)} {
				for _, reader := range []io.Reader{strings.NewReader(body), bufio.NewReader(strings.NewReader(body))} { // with a length, and without
					resp, err := http.Post(server.URL+"/short", "application/json", reader)
					if err != nil {
						t.Fatal(err)
					}
					resp.Body.Close()
					if resp.StatusCode != http.StatusOK {
						t.Errorf("%d bytes: %s", len(body), resp.Status)
					}
				}
			}
			for _, conn := range open {
				conn.Close()
			}
			server.Close()
			if b.taken != 0 {
				t.Errorf("%d bytes are still taken", b.taken)
			}
		})
	}
}

// Memory goes back to the system once for several long bodies, when no more come,
// and never for short ones.
func TestMemoryGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		freed := 0
		b := NewBudget(most)
		b.free = func() { freed++ }
		h := b.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if n, err := io.Copy(io.Discard, req.Body); err != nil || n != req.ContentLength {
				t.Errorf("%d bytes, %v", n, err)
			}
		}))
		for _, test := range []struct{ length, count, want int }{{freeAbove - 1, 3, 0}, {freeAbove, 3, 1}, {freeAbove - 1, 3, 1}, {freeAbove, 1, 2}} {
			for range test.count {
				time.Sleep(freeAfter - 1)
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", test.length))))
			}
			time.Sleep(freeAfter)
			synctest.Wait()
			if freed != test.want {
				t.Errorf("after %d bodies of %d bytes: freed %d times", test.count, test.length, freed)
			}
		}
	})
}
