package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
	"lamplighter/monitor/stop"
)

// FuzzRouter asks everything of the guarded routes: any method, target and
// header. Nothing panics, nothing foreign is served or does anything, a GET
// changes nothing, and every refusal is a harmless sentence in JSON.
func FuzzRouter(f *testing.F) {
	const ours = "127.0.0.1:25282"
	for _, seed := range []struct{ method, target, host, origin, site, mode, dest, kind, body string }{
		{"GET", "/health", ours, "", "", "", "", "", ""},
		{"HEAD", "/global-dashboard/", ours, "", "none", "navigate", "document", "", ""},
		{"GET", "/", ours, "", "cross-site", "navigate", "document", "", ""},
		{"GET", "/global-dashboard/instances?x=%zz&y;z", "localhost:25282", "", "same-origin", "cors", "empty", "", ""},
		{"POST", "/global-dashboard/instance/7/kill", ours, "http://" + ours, "same-origin", "", "", "application/json", `{"dry_run":true}`},
		{"POST", "/global-dashboard/instance/7/kill", ours, "https://evil", "cross-site", "", "", "application/json", `{"force":true}`},
		{"PUT", "/global-dashboard/instance/7-7/pin", ours, "", "", "", "", "application/json", `{"pinned":true}`},
		{"PUT", "/global-dashboard/instance/7/keep", ours, "", "", "", "", "application/json", `{"minutes":60}`},
		{"PUT", "/global-dashboard/policy", ours, "http://" + ours, "same-origin", "", "", "application/json", `{"paused":true,"minutes":null}`},
		{"PUT", "/global-dashboard/policy", ours, "https://evil", "cross-site", "", "", "application/json", `{"rule":"idle","on":false}`},
		{"GET", "/global-dashboard/decisions?what=idle", ours, "", "", "", "", "", ""},
		{"PUT", "/global-dashboard/login", ours, "https://evil", "cross-site", "", "", "application/json", `{"on":true}`},
		{"PUT", "/global-dashboard/welcome", ours, "http://" + ours, "same-origin", "", "", "application/json", `{"dismissed":true}`},
		{"PUT", "/global-dashboard/instance/7/shutdown", "evil", "", "", "", "", "", ""},
		{"GET", "/global-dashboard/instance/7/get_tool_stats", ours, "null", "", "", "", "", ""},
		{"GET", "/global-dashboard/instance/7/../../health", ours, "", "", "", "", "", ""},
		{"GET", "//health/../x", ours, "", "", "", "", "", ""},
		{"GET", "/global-dashboard/assets/..%2f..%2fhealth", ours, "", "", "", "", "", ""},
		{"OPTIONS", "*", ours, "https://evil", "", "", "", "", ""},
		{"CONNECT", "/global-dashboard/instance/7/kill", ours, "", "", "", "", "", ""},
		{"TRACE", "/%00\u202e", ours, "", "", "", "", "text/plain", "x"},
		{"GET", "http://evil/health", ours, "", "", "", "", "", ""},
		{"POST", "/show", ours, "", "", "", "", "", ""},
		{"POST", "/quit", ours, "", "", "", "", "application/json", `{"restart":true}`},
		{"POST", "/request-session", ours, "", "", "", "", "application/json", `{"project_path":"/p"}`},
		{"POST", "/request-session", ours, "https://evil", "cross-site", "cors", "empty", "text/plain", `{"project_path":"/p"}`},
		{"POST", "/mcp?project=/p", ours, "", "", "", "", "application/json", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`},
		{"GET", "/workspaces", ours, "", "", "", "", "", ""},
		{"POST", "/workspaces", ours, "", "", "", "", "application/json", `{"kind":"temp","job":"a","async":true}`},
		{"POST", "/workspaces", ours, "https://evil", "cross-site", "no-cors", "empty", "text/plain", `{"kind":"temp","job":"a"}`},
		{"DELETE", "/workspaces/fix?force=true", ours, "", "cross-site", "", "", "", ""},
		{"DELETE", "/workspaces/stream", ours, "", "", "", "", "", ""},
		{"POST", "/workspaces/fix/keep", ours, "", "", "", "", "application/json", `{"message":"a"}`},
		{"POST", "/workspaces/scan/remove", "evil", "", "", "", "", "application/json", `{"path":"/a","force":true}`},
		{"DELETE", "/mcp", ours, "https://evil", "cross-site", "cors", "empty", "", ""},
		{"POST", "/release-session", ours, "null", "same-site", "navigate", "document", "application/json", `{"session_id":7}`},
	} {
		f.Add(seed.method, seed.target, seed.host, seed.origin, seed.site, seed.mode, seed.dest, seed.kind, seed.body)
	}
	m := newModel()
	parked := instance(9, "p")
	parked.State = monitor.StateParked
	m.set(snapshot(instance(7, "a\u202e"), parked))
	fwd, l, pins, manager := &forwarder{}, &ladder{result: stop.Result{Outcome: stop.Ended}}, &pinner{}, &sessions{}
	p := parts(m, shower{url: "opened here"})
	told, mcp := &policyBook{}, &speaker{}
	p.Proxy, p.Stop, p.Pins, p.Recorder, p.Sessions, p.Policies = fwd, l, pins, &book{}, manager, told
	p.MCP = mcp
	login := &loginBook{}
	p.Login, p.Welcome = login, login
	spaces := &yard{list: []workspace.Workspace{aWorkspace(anID, "fix"), aWorkspace(anotherID, "stream")}}
	p.Workspaces = spaces
	web := NewWeb(WebOptions{Handler: Handler(p), Log: quiet()})
	guarded := web.guarded(25282)
	conn := ourConn(f)

	f.Fuzz(func(t *testing.T, method, target, host, origin, site, mode, dest, kind, body string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || method == "" || strings.HasSuffix(u.Path, "/stream") {
			return
		}
		ctx := context.WithValue(t.Context(), peerKey{}, &webConn{Conn: conn, web: web, proven: true})
		req, err := http.NewRequestWithContext(ctx, method, "http://x/", strings.NewReader(body))
		if err != nil {
			return
		}
		req.URL, req.Host = u, host
		if u.Host != "" {
			req.Host = u.Host // as a server does it
		}
		for name, value := range map[string]string{"Origin": origin, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest, "Content-Type": kind} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		fwd.asked, l.orders, l.ids, pins.pinned = nil, nil, nil, nil
		manager.asked, manager.released, told.told, mcp.asked = nil, nil, nil, nil
		login.told, login.dismissed = nil, 0
		spaces.asked()
		before, _ := spaces.count()
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, req)

		foreign := !slices.Contains([]string{ours, "localhost:25282", "[::1]:25282"}, req.Host) || origin != "" && origin != "http://"+req.Host
		fromPage := site != "" && site != "same-origin" && site != "none"
		managed := len(manager.asked) + len(manager.released) + len(told.told) + len(login.told) + login.dismissed
		for _, asked := range spaces.asked() {
			if !strings.HasPrefix(asked, "diff ") && !strings.HasPrefix(asked, "scan ") {
				managed++
			}
			if strings.HasPrefix(asked, "remove ") && strings.Contains(asked, anotherID) && !strings.Contains(target, anotherID) {
				t.Errorf("%s %s: %s", method, target, asked)
			}
		}
		if after, _ := spaces.count(); after > before {
			managed++
		}
		acted := len(fwd.asked) + len(l.orders) + len(pins.pinned) + len(mcp.asked) + managed
		if foreign && (w.Code < 400 || acted > 0) {
			t.Errorf("foreign, and answered with %d; did %d", w.Code, acted)
		}
		if fromPage && acted > 0 {
			t.Errorf("a page that is %q did something", site)
		}
		if fromPage && w.Code < 400 && (method != "GET" || mode != "navigate" || dest != "document" || !slices.Contains(pagePaths, u.Path)) {
			t.Errorf("a page that is %q was answered with %d", site, w.Code)
		}
		if (method == "GET" || method == "HEAD") && len(l.orders)+len(pins.pinned)+managed > 0 {
			t.Errorf("a %s changed something", method)
		}
		for _, asked := range fwd.asked {
			want, _, _ := strings.Cut(asked, " ")
			if !strings.HasSuffix(asked, " of 7-7") || want != method && (want != "GET" || method != "HEAD") {
				t.Errorf("%s was forwarded as %s", method, asked)
			}
		}
		if ids := slices.Compact(l.ids); len(ids) > 0 && !slices.Equal(ids, []string{"7-7"}) && !slices.Equal(ids, []string{"9-7"}) {
			t.Errorf("ended %v", ids)
		}
		if strings.Contains(w.Body.String(), "opened here") {
			t.Error("a window was opened")
		}
		if place := w.Header().Get("Location"); place != "" && (place != pageRoot || w.Code != http.StatusFound) {
			t.Errorf("it leads to %s", place)
		}
		if w.Code >= 300 && w.Code < 400 && w.Code != http.StatusFound && w.Code != http.StatusNotModified {
			t.Errorf("status %d", w.Code)
		}
		secured(t, target, w.Header())
		if w.Code < 400 {
			return
		}
		var refusal Failure
		if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil || refusal.Error == "" {
			t.Errorf("%d %q: %v", w.Code, w.Body, err)
		}
		if strings.HasPrefix(u.Path, pageRoot+"assets/") {
			return // the page's own refusals
		}
		if bytes.ContainsFunc(bytes.TrimSuffix(w.Body.Bytes(), []byte("\n")), monitor.Unprintable) {
			t.Errorf("%d %q", w.Code, w.Body)
		}
	})
}

// ourConn is the near end of a connection whose far end is this process.
func ourConn(t testing.TB) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	theirs, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	ours, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	return ours
}

// The paths that a router may be led astray by are none of ours.
func FuzzPlainPath(f *testing.F) {
	for _, seed := range []string{"/", "/a/b", "//", "/a//b", "/..", "/a/..", "/.a", "/a.", "/a%2fb", "/%41", "/a;b", "*", "http://x/y", "/a\x00", "/\u202e", "/a?b=/../c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		plain, err := plainPath(&http.Request{URL: u})
		if !plain {
			return
		}
		path, _, _ := strings.Cut(target, "?")
		if err != nil || path != u.Path || !strings.HasPrefix(path, "/") || len(path) > maxTarget || strings.ContainsAny(path, "%;\\\x00") || strings.Contains(path, "//") ||
			slices.Contains(strings.Split(path, "/"), "..") || slices.Contains(strings.Split(path, "/"), ".") {
			t.Errorf("%q is plain, %v", target, err)
		}
	})
}
