package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/setup"
)

// loginBook is a LoginSwitch and a Welcomer that notes what it is told.
type loginBook struct {
	mu        sync.Mutex
	state     LoginState
	err       error
	told      []string
	canceled  bool // whoever asked had gone already when it was told
	show      bool
	installed string
	dismissed int
}

func (l *loginBook) Login() LoginState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

func (l *loginBook) SetLogin(ctx context.Context, on bool, by string) (LoginState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, fmt.Sprintf("%v by %s", on, by))
	l.canceled = ctx.Err() != nil
	if l.err != nil {
		return l.state, l.err
	}
	l.state.On = on
	return l.state, nil
}

func (l *loginBook) Welcome() (bool, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.show, l.installed
}

func (l *loginBook) Dismiss() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.show = false
	l.dismissed++
	return nil
}

func withLogin(l *loginBook) http.Handler {
	m := newModel()
	m.set(snapshot(instance(7, "alpha"), instance(8, "beta")))
	p := parts(m, shower{})
	p.Login, p.Welcome = l, l
	p.Version, p.Address = "1.2.3", func() string { return "http://127.0.0.1:25282/global-dashboard/" }
	p.Setup = newDesktop()
	return Handler(p)
}

func TestLogin(t *testing.T) {
	for _, c := range []struct {
		state LoginState
		want  string
	}{
		{LoginState{Can: true}, `{"on":false,"can":true,"how":null,"why":null}`},
		{LoginState{On: true, Can: true, How: "systemd user unit"}, `{"on":true,"can":true,"how":"systemd user unit","why":null}`},
		{LoginState{On: true, How: "autostart entry", Why: "It is\u202e the administrator's."}, `{"on":true,"can":false,"how":"autostart entry","why":"It is the administrator's."}`},
	} {
		if w := try(t, withLogin(&loginBook{state: c.state}), "GET", loginPath, ""); w.Code != 200 || strings.TrimSpace(w.Body.String()) != c.want {
			t.Errorf("got  %d %s\nwant %s", w.Code, w.Body, c.want)
		}
	}
	for _, path := range []string{loginPath, welcomePath} {
		for _, method := range []string{"POST", "DELETE", "PATCH"} {
			if w := try(t, withLogin(&loginBook{}), method, path, "{}"); w.Code != 405 || w.Header().Get("Allow") != "GET, PUT, HEAD" {
				t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
			}
		}
		for method, body := range map[string]string{"GET": "", "PUT": `{"on":true}`} {
			if path == welcomePath && body != "" {
				body = `{"dismissed":true}`
			}
			if w := try(t, Handler(parts(newModel(), shower{})), method, path, body); w.Code != 503 || !strings.HasPrefix(w.Body.String(), `{"error":`) {
				t.Errorf("without: %s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
	}
}

func TestSetLogin(t *testing.T) {
	l := &loginBook{state: LoginState{Can: true}}
	h := withLogin(l)
	for _, c := range []struct{ body, told, want string }{
		{`{"on":true}`, "true by a request", `{"on":true,"can":true,"how":null,"why":null}`},
		{" {\"on\" : false} ", "false by a request", `{"on":false,"can":true,"how":null,"why":null}`},
	} {
		l.told = nil
		if w := try(t, h, "PUT", loginPath, c.body); w.Code != 200 || strings.TrimSpace(w.Body.String()) != c.want || len(l.told) != 1 || l.told[0] != c.told {
			t.Errorf("%s: %d %s, told %q", c.body, w.Code, w.Body, l.told)
		}
	}
	l.told = nil
	for _, body := range []string{
		"", "{}", "null", "true", "[]", `{"on":null}`, `{"on":1}`, `{"on":"true"}`, `{"On":true}`, `{"on":true,"x":1}`, `{"on":true,"on":false}`,
		`{"on":true}{}`, `{"on":true`, "{\"on\":true,\"\xff\":1}",
	} {
		if w := try(t, h, "PUT", loginPath, body); w.Code != 400 || l.told != nil || !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Errorf("%s: %d %s, told %q", body, w.Code, w.Body, l.told)
		}
	}
	l.err = fmt.Errorf("an administrator\u202e has it for all users: %w", ErrLoginStays)
	if w := try(t, h, "PUT", loginPath, `{"on":true}`); w.Code != 409 || !strings.Contains(w.Body.String(), "an administrator has it") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	l.err = errors.New("no space left")
	if w := try(t, h, "PUT", loginPath, `{"on":true}`); w.Code != 500 || !strings.Contains(w.Body.String(), "no space left") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestSwitchingGoesOnWhenTheClientGoes(t *testing.T) {
	l := &loginBook{state: LoginState{Can: true}}
	ctx, gone := context.WithCancel(t.Context())
	gone()
	req := httptest.NewRequestWithContext(ctx, "PUT", loginPath, strings.NewReader(`{"on":true}`))
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	withLogin(l).ServeHTTP(w, req)
	if w.Code != 200 || l.canceled || !l.state.On {
		t.Errorf("%d %s, canceled %v", w.Code, w.Body, l.canceled)
	}
}

func TestFirstWelcome(t *testing.T) {
	l := &loginBook{state: LoginState{Can: true}, show: true, installed: "deb"}
	h := withLogin(l)
	const login = `"login":{"on":false,"can":true,"how":null,"why":null},"servers":2`
	const page = `"page_url":"http://127.0.0.1:25282/global-dashboard/"}`
	want := `{"show":true,"version":"1.2.3","installed":"deb",` + login + `,"clients":0,` + page
	if w := try(t, h, "GET", welcomePath, ""); w.Code != 200 || strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("got  %d %s\nwant %s", w.Code, w.Body, want)
	}
	for _, body := range []string{
		"", "{}", "null", "true", "[]", `{"dismissed":null}`, `{"dismissed":false}`, `{"dismissed":1}`, `{"Dismissed":true}`, `{"dismissed":true,"x":1}`,
		`{"dismissed":true,"dismissed":true}`, `{"dismissed":true}{}`, `{"dismissed":true`,
	} {
		if w := try(t, h, "PUT", welcomePath, body); w.Code != 400 || l.dismissed > 0 || !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	l.err = errors.New("the mark cannot be written: no space")
	if w := try(t, h, "PUT", welcomePath, `{"dismissed":true}`); w.Code != 500 || !strings.Contains(w.Body.String(), "no space") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	l.err = nil
	want = `{"show":false,"version":"1.2.3","installed":"deb",` + login + `,"clients":null,` + page
	for range 2 { // again is no error
		if w := try(t, h, "PUT", welcomePath, `{"dismissed":true}`); w.Code != 200 || strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("got  %d %s\nwant %s", w.Code, w.Body, want)
		}
	}
	l.installed = ""
	if w := try(t, h, "GET", welcomePath, ""); !strings.Contains(w.Body.String(), `"installed":null`) {
		t.Errorf("%s", w.Body)
	}
}

func TestClientsThatSetupCouldChange(t *testing.T) {
	with := func(becomes ...string) setup.Client {
		var entries []setup.Entry
		for _, b := range becomes {
			entries = append(entries, setup.Entry{Becomes: b})
		}
		return setup.Client{Files: []setup.File{{}, {Entries: entries}}}
	}
	for want, list := range [][]setup.Client{
		{},
		{{}, with(""), with("", "lamplighter-connect")},
		{with("x", "y"), with("x"), with()},
	} {
		if got := couldChange(list); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}
