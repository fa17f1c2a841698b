package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/workspace"
)

func decode(w *httptest.ResponseRecorder, into any) error {
	return json.Unmarshal(w.Body.Bytes(), into)
}

func TestCreateWorkspace(t *testing.T) {
	y := &yard{}
	h := withWorkspaces(y)
	w := tryHere(t, h, "POST", "/workspaces", `{"kind":"hybrid","from":"/src/a","ref":"main","in":"/in","job":"fix","project":"p","share":["node_modules","/c"],"cleanup":"archive",`+
		`"retention_seconds":3600,"serve":true,"wait":true,"copy":true,"async":false}`)
	if w.Code != 201 || strings.TrimSpace(w.Body.String()) != `{"id":"`+anID+`",`+aWire+`}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	q := y.requests[0]
	if q.Kind != workspace.Hybrid || fmt.Sprintf("%q", q.From) != onSystem(`"/src/a"`) || q.Ref != "main" || fmt.Sprintf("%q", q.In) != onSystem(`"/in"`) || q.Job != "fix" || q.Project != "p" || fmt.Sprintf("%q", q.Share) != onSystem(`["node_modules" "/c"]`) ||
		q.Cleanup != workspace.ToArchive || q.Retention != time.Hour || !q.Serve || !q.Wait || !q.Copy {
		t.Errorf("asked for %+v", q)
	}
	if w := tryHere(t, h, "POST", "/workspaces", `{"kind":"temp","job":"fix"}`); w.Code != 201 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if q := y.requests[1]; q.Kind != workspace.Temp || q.From != "" || q.Share != nil || q.Cleanup != "" || q.Retention != 0 || q.Serve || q.Wait || q.Copy {
		t.Errorf("asked for %+v", q)
	}
}

func TestTooManyWorkspaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock stands still
		free := time.Now().Add(89500 * time.Millisecond)
		past := time.Now().Add(-time.Hour)
		holder := aWorkspace(anID, "fix")
		holder.EndsAt = &free
		said := func(held string) string {
			return `{"error":"the limit of 1 workspace is reached: ` + held + `; \"wait\": true waits for a place, and DELETE /workspaces/ID removes one",`
		}
		const holders = `"holders":[{"id":"` + anID + `","name":"alpha-fix-000000a1","job":"fix","ends_at":"2000-01-01T00:01:29.5Z"}],"free_at":`
		const one = "they are held by alpha-fix-000000a1; one is due to be free "
		for _, test := range []struct {
			free          *time.Time
			holders       []workspace.Workspace
			after, answer string
		}{
			{&free, []workspace.Workspace{holder}, "90", said(one+"in 2 min") + holders + `"2000-01-01T00:01:29.5Z"}`},
			{&past, []workspace.Workspace{holder}, "1", said(one+"now") + holders + `"1999-12-31T23:00:00Z"}`},
			{nil, nil, "", said("none of them has an end that is known") + `"holders":[],"free_at":null}`},
		} {
			many := &workspace.TooMany{Limit: 1, Holders: test.holders, FreeAt: test.free}
			for body, y := range map[string]*yard{
				`{"kind":"temp","job":"a"}`:                               {err: many},
				`{"kind":"temp","job":"a","async":true}`:                  {err: many},
				`{"kind":"temp","job":"a","async":true, "wait": false  }`: {late: many}, // once it has its id
			} {
				w := tryHere(t, withWorkspaces(y), "POST", "/workspaces", body)
				if w.Code != 429 || w.Header().Get("Retry-After") != test.after || strings.TrimSpace(w.Body.String()) != test.answer {
					t.Errorf("%s: %d, Retry-After %q, %s", body, w.Code, w.Header().Get("Retry-After"), w.Body)
				}
			}
		}
	})
}

// One that is made beside its request can be asked about by its id until it is
// whole, and why it is not is told like to one who waits.
func TestCreateWorkspaceBeside(t *testing.T) {
	y := &yard{held: make(chan struct{})}
	h := withWorkspaces(y)
	const order = `{"kind":"temp","job":"fix\u202e","async":true}`
	w := tryHere(t, h, "POST", "/workspaces", order)
	const begun = `{"id":"` + anID + `","name":"alpha-fix-000000a1","job":"fix\u202e","progress":{"phase":`
	if w.Code != 202 || !strings.HasPrefix(w.Body.String(), begun+`null,"files":0,`) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	apptest.Eventually(t, "its progress is told", func() bool {
		w := tryHere(t, h, "GET", "/workspaces/"+anID, "")
		return w.Code == 202 && strings.TrimSpace(w.Body.String()) == begun+`"copying","files":0,"files_total":null,"bytes":5,"bytes_total":10,"percent":50,"left_seconds":2}}`
	})
	close(y.held)
	apptest.Eventually(t, "it is whole", func() bool { return tryHere(t, h, "GET", "/workspaces/"+anID, "").Code == 200 })
}

// What goes wrong at once is told in the answer to the request.
func TestCreateWorkspaceBrokenBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // at once, however long the machine takes
		const order = `{"kind":"temp","job":"fix","async":true}`
		for name, broken := range map[string]*yard{"a panic": {panics: true}, "nobody says its id": {unsaid: true}} {
			h := withWorkspaces(broken)
			w := tryHere(t, h, "POST", "/workspaces", order)
			if broken.unsaid {
				if w.Code != 500 || !strings.Contains(w.Body.String(), "nobody said which one it is") {
					t.Errorf("%s: %d %s", name, w.Code, w.Body)
				}
				continue
			}
			if w.Code != 500 || !strings.Contains(w.Body.String(), "lamplighter failed at this") {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
			w = tryHere(t, h, "GET", "/workspaces/"+anID, "")
			if w.Code != 500 || w.Body.String() != `{"error":"alpha-fix-000000a1 was not made: making a workspace: lamplighter failed at this; its log says why"}`+"\n" {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
	})
}

// What nobody tells any progress of is not waited for for long.
func TestCreateWorkspaceQuietly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := &yard{held: make(chan struct{}), quietly: true}
		began := time.Now()
		w := tryHere(t, withWorkspaces(y), "POST", "/workspaces", `{"kind":"temp","job":"fix","async":true}`)
		if waited := time.Since(began); w.Code != 202 || waited != soonRefused {
			t.Errorf("after %v: %d %s", waited, w.Code, w.Body)
		}
		close(y.held)
	})
}

func TestManyWorkspacesBeside(t *testing.T) {
	y := &yard{held: make(chan struct{})}
	h := withWorkspaces(y)
	const order = `{"kind":"temp","job":"fix","async":true}`
	for range mostBegun {
		if w := tryHere(t, h, "POST", "/workspaces", order); w.Code != 202 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if w := tryHere(t, h, "POST", "/workspaces", order); w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "64 workspaces are being made here") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(y.held)
	apptest.Eventually(t, "there is a place again", func() bool { return tryHere(t, h, "POST", "/workspaces", order).Code == 202 })
	apptest.Eventually(t, "all are whole", func() bool {
		y.mu.Lock()
		defer y.mu.Unlock()
		return len(y.list) == len(y.requests)
	})
}

// One that is made beside its request can be given up, also while it waits for a
// place.
func TestGiveUpWorkspace(t *testing.T) {
	y := &yard{held: make(chan struct{})}
	h := withWorkspaces(y)
	if w := tryHere(t, h, "POST", "/workspaces", `{"kind":"temp","job":"fix","async":true,"wait":true}`); w.Code != 202 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for _, test := range []struct {
		method, query string
		status        int
		answer        string
		undone        int
	}{
		{"DELETE", "?dry_run=true", 200, `"done":false,"dry_run":true,"what":"its making would be given up"`, 0},
		{"GET", "", 202, `"id":"` + anID + `"`, 0},
		{"DELETE", "", 200, `"done":true,"dry_run":false,"what":"its making was given up"`, 1},
		{"GET", "", 410, "alpha-fix-000000a1 was not made: it was given up while it was made, and nothing of it stays", 1},
		{"DELETE", "", 404, "no such workspace", 1},
	} {
		w := tryHere(t, h, test.method, "/workspaces/"+anID+test.query, "")
		_, undone := y.count()
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.answer) || undone != test.undone {
			t.Errorf("%s %s: %d %s, %d given up", test.method, test.query, w.Code, w.Body, undone)
		}
	}
}

// One that was whole when it was given up is removed, and what could not be undone
// is told.
func TestGiveUpWorkspaceTooLate(t *testing.T) {
	for name, test := range map[string]struct {
		y      *yard
		status int
		answer string
		told   []string
	}{
		"it is whole":      {&yard{held: make(chan struct{}), whole: true, outcome: workspace.Outcome{Done: true, What: "removed"}}, 200, `"what":"removed"`, []string{"remove " + anID + " {Force:false DryRun:false By:a request}"}},
		"it is not undone": {&yard{held: make(chan struct{}), stuck: errors.New("it cannot be undone")}, 503, "it cannot be undone", nil},
	} {
		h := withWorkspaces(test.y)
		if w := tryHere(t, h, "POST", "/workspaces", `{"kind":"temp","job":"fix","async":true}`); w.Code != 202 {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		w := tryHere(t, h, "DELETE", "/workspaces/"+anID, "")
		if told := test.y.asked(); w.Code != test.status || !strings.Contains(w.Body.String(), test.answer) || !slices.Equal(told, test.told) {
			t.Errorf("%s: %d %s, %q", name, w.Code, w.Body, told)
		}
	}
}

// Those that may wait for a place keep nobody else from being made.
func TestManyWorkspacesWait(t *testing.T) {
	y := &yard{held: make(chan struct{})}
	h := withWorkspaces(y)
	const order = `{"kind":"temp","job":"fix","async":true,"wait":true}`
	for range mostWaiting {
		if w := tryHere(t, h, "POST", "/workspaces", order); w.Code != 202 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if w := tryHere(t, h, "POST", "/workspaces", order); w.Code != 503 || !strings.Contains(w.Body.String(), "256 workspaces that may wait for a place") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := tryHere(t, h, "POST", "/workspaces", `{"kind":"temp","job":"fix","async":true}`); w.Code != 202 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(y.held)
	apptest.Eventually(t, "all are whole", func() bool {
		y.mu.Lock()
		defer y.mu.Unlock()
		return len(y.list) == mostWaiting+1
	})
}

// Why workspaces could not be made is remembered of the last ones.
func TestFailedWorkspacesAreForgotten(t *testing.T) {
	m := newMakings()
	id := func(i int) string { return string(rune('a'+i/26)) + string(rune('a'+i%26)) }
	for i := range mostFailed + 1 {
		one := &beginning{}
		if !m.begin(one, workspace.Making{ID: id(i)}) || m.begin(one, workspace.Making{ID: "twice"}) {
			t.Fatal("it begins once")
		}
		m.end(one, errors.New("it burnt"))
	}
	if _, known := m.find(id(0)); known || len(m.making) != mostFailed || len(m.failed) != mostFailed {
		t.Errorf("%d are remembered, the first of them: %v", len(m.making), known)
	}
	if one, known := m.find(id(mostFailed)); !known || one.failed == nil {
		t.Error("the last is not remembered")
	}
}

// A client that goes away has no workspace, save one that is made beside its
// request; a scan ends with its client, too.
func TestWorkspaceClientGoesAway(t *testing.T) {
	for name, test := range map[string]struct {
		route, body string
		undone      int
	}{
		"it waited":  {"/workspaces", `{"kind":"temp","job":"fix"}`, 1},
		"a scan":     {"/workspaces/scan", `{"dirs":["/a"]}`, 1},
		"it did not": {"/workspaces", `{"kind":"temp","job":"fix","async":true}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			y := &yard{held: make(chan struct{})}
			s := serveWeb(t, withWorkspaces(y), nil)
			conn := openRequest(t, s.at(t), test.route, onSystem(test.body))
			apptest.Eventually(t, "it is asked", func() bool { requests, _ := y.count(); return requests == 1 || len(y.asked()) == 1 })
			if test.undone == 0 {
				if resp, body := receive(t, bufio.NewReader(conn)); resp.StatusCode != http.StatusAccepted {
					t.Errorf("%d %s", resp.StatusCode, body)
				}
			}
			conn.Close()
			if test.undone == 1 {
				apptest.Eventually(t, "it is given up", func() bool { _, undone := y.count(); return undone == 1 })
				return
			}
			s.stop() // which waits for what the connection has begun
			close(y.held)
			apptest.Eventually(t, "it is made", func() bool { view, _ := y.View(t.Context()); return len(view.Workspaces) == 1 })
			if _, undone := y.count(); undone != 0 {
				t.Error("it was given up")
			}
		})
	}
}

// A workspace whose answer is not taken is removed: nobody knows of it.
func TestWorkspaceAnswerNotTaken(t *testing.T) {
	y := &yard{}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/workspaces", strings.NewReader(`{"kind":"temp","job":"fix"}`))
	req.Header.Set("Content-Type", isJSON)
	withWorkspaces(y).ServeHTTP(unwritable{httptest.NewRecorder()}, req)
	if told := y.asked(); !slices.Equal(told, []string{"remove " + anID + " {Force:false DryRun:false By:its client has gone}"}) || y.canceled {
		t.Errorf("told %q", told)
	}
}
