package dashboard

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

// endlessly writes the same again and again until the other side has enough.
func endlessly(first, again string) func(net.Conn, string) {
	return func(conn net.Conn, _ string) {
		_, err := io.WriteString(conn, first)
		for err == nil {
			_, err = io.WriteString(conn, again)
		}
	}
}

// TestHostileAnswers: what whoever listens there may answer, in raw bytes.
func TestHostileAnswers(t *testing.T) {
	elsewhere := serveRaw(t, says(ok(`{}`)))
	for _, c := range []struct {
		what   string
		answer func(net.Conn, string)
		status int
		text   string // in the answer
	}{
		{"an object", says(ok(` {"a":[1,"<b>"]} `)), 200, `{"a":[1,"<b>"]}`},
		{"a length", says("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"), 200, `{}`},
		{"chunks", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\nX-Trailer: x\r\n\r\n"), 200, `{}`},
		{"one hint before", says("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok(`{}`)), 200, `{}`},
		{"headers of its own", says("HTTP/1.1 200 <script>\r\nSet-Cookie: a=b\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\nRefresh: 0\r\n\r\n{}"), 200, `{}`},

		{"a page", says(ok(`<html>{}</html>`)), 502, "not a JSON object"},
		{"a list", says(ok(`[{}]`)), 502, "not a JSON object"},
		{"null", says(ok(`null`)), 502, "not a JSON object"},
		{"half", says(ok(`{"a":`)), 502, "not a JSON object"},
		{"two", says(ok(`{}{}`)), 502, "not a JSON object"},
		{"no UTF-8", says(ok("{\"a\":\"\xff\"}")), 502, "not a JSON object"},
		{"a mark before", says(ok("\ufeff{}")), 502, "not a JSON object"},
		{"not a number", says(ok(`{"a":NaN}`)), 502, "not a JSON object"},
		{"depth", says(ok(strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000))), 502, "not a JSON object"},
		{"compressed", says(ok("\x1f\x8b\x08\x00\x00\x00\x00\x00")), 502, "not a JSON object"},
		{"spaces", says(ok(" \r\n")), 502, "with nothing"},
		{"no bytes", says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 502, "with nothing"},
		{"nothing", says(""), 502, "or none"},
		{"another protocol", says("SSH-2.0-OpenSSH_9.6\r\n"), 502, "cannot be understood"},
		{"zeroes", says(strings.Repeat("\x00", 1<<16)), 502, "cannot be understood"},
		{"frames", says("\x00\x00\x12\x04\x00\x00\x00\x00\x00"), 502, "cannot be understood"},
		{"a length that is none", says("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}"), 502, "cannot be understood"},
		{"two lengths", says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), 502, "cannot be understood"},
		{"too great a length", says("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}"), 502, "broke off"},
		{"too small a length", says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}"), 502, "not a JSON object"},
		{"bad chunks", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"), 502, "broke off"},
		{"huge headers", says("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n{}"), 502, "cannot be understood"},
		{"headers without end", endlessly("HTTP/1.1 200 OK\r\n", "X: y\r\n"), 502, "cannot be understood"},
		{"hints without end", endlessly("", "HTTP/1.1 103 Early Hints\r\n\r\n"), 502, "cannot be understood"},
		{"encouragement without end", endlessly("", "HTTP/1.1 100 Continue\r\n\r\n"), 502, "cannot be understood"},
		{"a megabyte or many", endlessly(ok(`{"a":"`), strings.Repeat("x", 1<<16)), 502, "more than 4 MiB"},
		{"chunks without end", endlessly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1000\r\n"+strings.Repeat("{", 0x1000)+"\r\n"), 502, "more than 4 MiB"},
		{"a length beyond all", says("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}"), 502, "more than 4 MiB"},

		{"a redirect", says(fmt.Sprintf("HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:%d/get_tool_stats\r\nContent-Length: 0\r\n\r\n", elsewhere.port)), 502, "status 307"},
		{"another protocol from here", says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n{}"), 502, "status 101"},
		{"no content", says("HTTP/1.1 204 No Content\r\n\r\n"), 502, "status 204"},
		{"refused", says("HTTP/1.1 403 Forbidden\r\n\r\n{}"), 502, "status 403"},
		{"a fault", endlessly("HTTP/1.1 500 Oh\x1b[2J\r\n\r\n", "<html>"), 502, "status 500"},
		{"a status that is none", says("HTTP/1.1 999 ?\r\n\r\n{}"), 502, "status 999"},
		{"an old version", says("HTTP/1.1 404 Not Found\r\n\r\n<html>"), 404, "(2.1.0) does not offer get_tool_stats"},
		{"an older one", says("HTTP/1.1 405 Method Not Allowed\r\n\r\n<html>"), 404, "(2.1.0) does not offer get_tool_stats"},

		{"silence", hangs, 504, " - alpha did not answer within 1 s; "},
		{"a beginning", func(conn net.Conn, request string) { says("HTTP/1.1 200 OK\r\n")(conn, request); hangs(conn, request) }, 504, "did not answer within 1 s; "},
		{"half of it", func(conn net.Conn, request string) { says(ok(`{"a":`))(conn, request); hangs(conn, request) }, 504, "did not answer within 1 s; "},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			d := serveRaw(t, c.answer)
			p := trusting()
			if c.status == 504 {
				p = hurried()
			}
			w := forward(t, p, ours(t, d.port), "GET get_tool_stats", "")
			// Its port differs each time.
			text := strings.ReplaceAll(w.Body.String(), fmt.Sprint(d.port), "24284")
			if w.Code != c.status || !strings.Contains(text, c.text) {
				t.Errorf("%d %.200s", w.Code, text)
			}
			// Where the limit is that for users, a busy machine may take it for nothing.
			if n := len(d.requests()); n > 1 || n == 0 && c.status != 504 {
				t.Errorf("asked %d times", n)
			}
		})
	}
	t.Cleanup(func() {
		if asked := elsewhere.requests(); len(asked) > 0 {
			t.Errorf("a redirect was followed: %q", asked)
		}
	})
}

// TestLateChange: who has sent a change is told that it may still happen.
func TestLateChange(t *testing.T) {
	for answer, want := range map[string]struct {
		status int
		text   string
	}{
		"":                 {504, "within 1 s; it may still do what was asked"},
		"SSH-2.0-x\r\n":    {502, "it may have done what was asked"},
		ok(`{"status":1}`): {200, "status"},
	} {
		d := serveRaw(t, func(conn net.Conn, request string) {
			if answer == "" {
				hangs(conn, request)
			}
			says(answer)(conn, request)
		})
		p := trusting()
		if want.status == 504 {
			p = hurried()
		}
		w := forward(t, p, ours(t, d.port), "POST clear_tool_stats", "")
		if w.Code != want.status {
			t.Errorf("%q: %d", answer, w.Code)
		}
		apptest.Contains(t, w.Body.String(), want.text)
	}
}

func TestStartingHasNoOverview(t *testing.T) {
	d := serveRaw(t, says("HTTP/1.1 500 INTERNAL SERVER ERROR\r\n\r\n<html>"))
	in := ours(t, d.port)
	for version, status := range map[string]int{"": 409, "2.1.0": 502} {
		in.Version = version
		if w := forward(t, trusting(), in, "GET get_config_overview", ""); w.Code != status {
			t.Errorf("version %q: %d %s", version, w.Code, w.Body)
		}
	}
	in.Version = ""
	if w := forward(t, trusting(), in, "GET get_tool_names", ""); w.Code != 502 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// FuzzForward: whoever asks whatever, and whoever listens there answers
// whatever: the answer is ours.
func FuzzForward(f *testing.F) {
	for i := range rules {
		f.Add(i, []byte(`{"start_idx":1}`), []byte(ok(`{}`)))
		f.Add(i, []byte(`{"memory_name":"a","content":"b"}`), []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nSet-Cookie: a=b\r\n\r\n{}"))
		f.Add(i, []byte(``), []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))
	}
	f.Add(0, []byte("\xff"), []byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 X\r\n\r\n"))
	f.Add(1, []byte(nil), []byte("HTTP/1.1 301 X\r\nLocation: /x\r\n\r\n"))
	var raw atomic.Pointer[[]byte]
	d := serveRaw(f, func(conn net.Conn, _ string) { _, _ = conn.Write(*raw.Load()) })
	in := ours(f, d.port)
	f.Fuzz(func(t *testing.T, at int, body, answer []byte) {
		raw.Store(&answer)
		r := rules[int(uint(at)%uint(len(rules)))]
		p := trusting()
		ends := r.Name == "shutdown"
		if ends { // after a strange answer it waits so long for the end of the process, which is this one
			p = patient(50 * time.Millisecond)
		}
		w := forward(t, p, in, r.Method+" "+r.Name, string(body))
		if w.Code == 504 && !ends {
			t.Error("it did answer")
		}
	})
}

// FuzzAnswer: an answer that arrived whole is passed on as it is or not at all.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{`{}`, ` {"a":1}`, `[]`, ``, `{"a":"` + "\xff" + `"}`, `{"a":1}x`, `<html>`} {
		for _, status := range []int{200, 404, 405, 500, 302, 0} {
			f.Add(2, status, "1.5.3", []byte(body))
			f.Add(5, status, "", []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, at, status int, version string, body []byte) {
		r := rules[int(uint(at)%uint(len(rules)))]
		in := &monitor.Instance{Identity: monitor.Identity{PID: 7, Start: 7}, Port: 24284, ProjectName: string(body), Version: version}
		w := httptest.NewRecorder()
		judge(r, in, status, body).write(w)
		checkAnswer(t, w)
		if w.Code == 200 && (status != 200 || w.Body.String() != string(body)) {
			t.Errorf("status %d, %q became %q", status, body, w.Body)
		}
	})
}
