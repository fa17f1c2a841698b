package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// desktop is a Setup that knows what the test says, and notes what it is told.
type desktop struct {
	list    []setup.Client
	result  setup.Result
	listErr error
	err     error

	mu       sync.Mutex
	wanted   []setup.Wanted
	canceled bool // whoever asked had gone already when it was told
}

func (d *desktop) List(_ context.Context, w setup.Wanted) ([]setup.Client, error) {
	if d.listErr != nil {
		return nil, d.listErr
	}
	return d.list, nil
}

func (d *desktop) Do(ctx context.Context, w setup.Wanted) (setup.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.canceled = ctx.Err() != nil
	d.wanted = append(d.wanted, w)
	return d.result, d.err
}

// told is what it was told since the last time.
func (d *desktop) told() []setup.Wanted {
	d.mu.Lock()
	defer d.mu.Unlock()
	wanted := d.wanted
	d.wanted = nil
	return wanted
}

// aSum is the SHA-256 of nothing.
const aSum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func newDesktop() *desktop {
	return &desktop{
		list: []setup.Client{
			{ID: "codex", Name: "Codex", Running: []int{7}, Files: []setup.File{{
				Path: "/home/u/.codex/config.toml", Scope: setup.User, Exists: true,
				Entries: []setup.Entry{{Name: "serena", Path: []string{"mcp_servers", "serena"}, Line: 3, State: setup.Direct, Serena: true, Runs: "serena\u202e"}},
			}}},
			{ID: "cursor", Name: "Cursor", Running: []int{}, Files: []setup.File{{Path: "/home/u/.cursor/mcp.json", Scope: setup.User, Entries: []setup.Entry{}}}},
			{ID: "gemini-cli", Name: "Gemini CLI", Running: []int{}, Files: []setup.File{}},
		},
		result: setup.Result{Running: []string{}, Changes: []setup.Change{{
			Client: "Codex", Path: "/home/u/.codex/config.toml", Sum: aSum, Entries: []setup.Entry{}, Left: []setup.Entry{}, Kept: []string{}, Before: []byte("secret"), After: []byte("secret"),
		}}},
	}
}

func withSetup(s Setup) http.Handler {
	p := parts(newModel(), shower{})
	p.Setup = s
	return Handler(p)
}

func TestClients(t *testing.T) {
	const entry = `"becomes":"","why":"","alone":"","broken":"","missing":"","opens_page":false,"page_stops":false}`
	want := `{"clients":[{"id":"codex","name":"Codex","running":[7],"files":[{"path":"/home/u/.codex/config.toml","scope":"user","exists":true,"problem":"","note":"","entries":[` +
		`{"name":"serena","path":["mcp_servers","serena"],"line":3,"state":"direct","serena":true,"off":false,"runs":"serena\u202e","now":"",` + entry + `],"changed":null,"backup":""}]},` +
		`{"id":"cursor","name":"Cursor","running":[],"files":[{"path":"/home/u/.cursor/mcp.json","scope":"user","exists":false,"problem":"","note":"","entries":[],"changed":null,"backup":""}]},` +
		`{"id":"gemini-cli","name":"Gemini CLI","running":[],"files":[]}]}`
	d := newDesktop()
	h := withSetup(d)
	if w := try(t, h, "GET", setupPath, ""); w.Code != 200 || strings.TrimSpace(w.Body.String()) != want || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("got  %d %s\nwant %s", w.Code, w.Body, want)
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH"} {
		if w := try(t, h, method, setupPath, "{}"); w.Code != 405 || w.Header().Get("Allow") != "GET, POST, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	d.listErr = errors.New("there is no home\u202e directory")
	if w := try(t, h, "GET", setupPath, ""); w.Code != 500 || !strings.Contains(w.Body.String(), "there is no home directory") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := try(t, h, "POST", setupPath, `{"client":""}`); w.Code != 500 || d.told() != nil {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, method := range []string{"GET", "POST"} {
		if w := try(t, withSetup(nil), method, setupPath, ""); w.Code != 503 || !strings.Contains(w.Body.String(), noSetup) {
			t.Errorf("without: %s %d %s", method, w.Code, w.Body)
		}
	}
}

func TestChangeClients(t *testing.T) {
	d := newDesktop()
	h := withSetup(d)
	const codex = "/home/u/.codex/config.toml"
	for body, want := range map[string]setup.Wanted{
		`{"client":""}`:                                                               {},
		` {"dry_run":true, "client":"codex" }`:                                        {Client: "codex", DryRun: true},
		`{"client":"codex","undo":true}`:                                              {Client: "codex", Undo: true},
		`{"client":"cursor","no_page":true,"path":""}`:                                {Client: "cursor", NoPage: true},
		`{"path":"` + codex + `"}`:                                                    {File: codex},
		`{"client":"codex","path":"` + codex + `","dry_run":false}`:                   {Client: "codex", File: codex},
		`{"client":"codex","expect":{}}`:                                              {Client: "codex", Expect: map[string]string{}},
		`{"client":"","expect":{"` + codex + `":"` + aSum + `","/b":"` + aSum + `"}}`: {Expect: map[string]string{codex: aSum, "/b": aSum}},
	} {
		w := try(t, h, "POST", setupPath, body)
		told := d.told()
		const answer = `{"changes":[{"client":"Codex","path":"/home/u/.codex/config.toml","sum":"` + aSum + `","entries":[],"left":[],"backup":"","kept":[],"whole":false,"problem":"","written":false}],"running":[],"page":false,"notes":null}`
		if w.Code != 200 || strings.TrimSpace(w.Body.String()) != answer {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		if len(told) != 1 || told[0].Servers != nil || told[0].Client != want.Client || told[0].File != want.File || told[0].Project || !reflect.DeepEqual(told[0].Expect, want.Expect) ||
			told[0].Undo != want.Undo || told[0].DryRun != want.DryRun || told[0].NoPage != want.NoPage {
			t.Errorf("%s: told %+v, want %+v", body, told, want)
		}
	}
	for _, body := range []string{
		"", "{}", "null", "[]", "true", `"codex"`, `{"client":null}`, `{"client":7}`, `{"client":["codex"]}`, `{"Client":"codex"}`, `{"client":"codex","x":1}`,
		`{"client":"codex","client":"cursor"}`, `{"client":"codex"}{}`, `{"client":"codex"`, `{"client":"codex","undo":1}`, `{"client":"codex","undo":null}`,
		`{"client":"codex","dry_run":"true"}`, `{"client":"codex","dryrun":true}`, `{"dry_run":true}`, `{"path":""}`, `{"path":null,"client":"codex"}`,
		`{"client":"codex","servers":["x"]}`, `{"client":"codex","undo":true,"no_page":true}`, `{"client":"codex","or_direct":true}`,
		`{"client":"codex","project":true}`, `{"client":"codex","expect":null}`, `{"client":"codex","expect":[]}`, `{"client":"codex","expect":"` + aSum + `"}`,
		`{"client":"codex","expect":{"/b":null}}`, `{"client":"codex","expect":{"/b":""}}`, `{"client":"codex","expect":{"/b":"` + aSum[1:] + `"}}`, `{"client":"codex","expect":{"/b":"` + strings.ToUpper(aSum) + `"}}`,
		`{"client":"codex","expect":{"/b":"` + aSum + `","/b":"` + aSum + `"}}`, `{"client":"codex","expect":{"\u202e":1}}`, `{"client":"codex","Expect":{}}`,
		`{"client":"\ud800"}`, "{\"client\":\"\xff\"}",
	} {
		if w := try(t, h, "POST", setupPath, body); w.Code != 400 || d.told() != nil || !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for body, want := range map[string]string{
		`{"client":7}`:                                              "client is no string",
		`{"client":"","path":[]}`:                                   "path is no string",
		`{"client":"","undo":1}`:                                    "undo is neither true nor false",
		`{"client":"","dry_run":"true"}`:                            "dry_run is neither true nor false",
		`{"client":"codex","expect":[]}`:                            "expect is no object of strings",
		`{"client":"codex","expect":{"/b":{"sum":"` + aSum + `"}}}`: "expect is no object of strings",
	} {
		if w := try(t, h, "POST", setupPath, body); !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "unmarshal") {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := try(t, h, "POST", setupPath, `{"client":"Codex"}`); !strings.Contains(w.Body.String(), "known are codex, cursor, gemini-cli") {
		t.Error(w.Body)
	}
	// Only what is shown can be changed.
	for _, body := range []string{
		`{"client":"nosuch"}`, `{"client":"Codex"}`, `{"client":"\u202e"}`, `{"path":"/etc/passwd"}`, `{"path":"config.toml"}`, `{"path":"/home/u/.codex/../.codex/config.toml"}`,
		`{"path":"/home/u/.codex/config.toml/"}`, `{"path":"/home/u/.bashrc","dry_run":true}`, `{"client":"cursor","path":"` + codex + `"}`, `{"client":"nosuch","path":"` + codex + `"}`,
	} {
		w := try(t, h, "POST", setupPath, body)
		if w.Code != 404 || d.told() != nil || strings.ContainsFunc(strings.TrimSpace(w.Body.String()), monitor.Unprintable) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for status, err := range map[int]error{500: errors.New("no space\u202e left"), 409: fmt.Errorf("no space left: %w", setup.ErrBusy)} {
		d.err = err
		if w := try(t, h, "POST", setupPath, `{"client":""}`); w.Code != status || !strings.Contains(w.Body.String(), "no space left") {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
	gone := fmt.Errorf("%w: %w; install lamplighter again", setup.ErrNoConnect, fs.ErrNotExist) // as setup has it
	for err, status := range map[error]int{setup.ErrNoConnect: 409, gone: 409, setup.ErrNoClient: 404, fs.ErrNotExist: 404} {
		d.err = err
		if w := try(t, h, "POST", setupPath, `{"client":""}`); w.Code != status {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
}

// A change that has begun is not left half done because a page was closed.
func TestChangeClientsGoesOn(t *testing.T) {
	d := newDesktop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequestWithContext(ctx, "POST", setupPath, strings.NewReader(`{"client":"codex"}`))
	req.Header.Set("Content-Type", "application/json")
	withSetup(d).ServeHTTP(httptest.NewRecorder(), req)
	if len(d.told()) != 1 || d.canceled {
		t.Error("it was not told, or to stop")
	}
}

// Over the port it is behind the same guard as all else.
func TestSetupFromElsewhere(t *testing.T) {
	d := newDesktop()
	site := serveWeb(t, withSetup(d), nil)
	address := "http://" + site.at(t) + setupPath
	post := func(change func(*http.Request)) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", address, strings.NewReader(`{"client":"codex"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		change(req)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	for what, change := range map[string]func(*http.Request){
		"a page":      func(r *http.Request) { r.Header.Set("Origin", "https://example.com") },
		"no origin":   func(r *http.Request) { r.Header.Set("Origin", "null") },
		"a site":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another":     func(r *http.Request) { r.Host = "rebound.example:25282" },
		"a form":      func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"an encoding": func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") },
	} {
		if status := post(change); status != 403 && status != 400 || d.told() != nil {
			t.Errorf("%s: %d", what, status)
		}
	}
	if status := post(func(r *http.Request) { r.Header.Set("Origin", "http://"+r.Host) }); status != 200 || len(d.told()) != 1 {
		t.Errorf("the page itself: %d", status)
	}
}

// The real part behind the routes: what is seen, changed and undone is a file.
func TestSetupOfRealFiles(t *testing.T) {
	home := t.TempDir()
	const before = "# mine\n[mcp_servers.serena]\ncommand = \"serena\"\nargs = [\"start-mcp-server\", \"--project-from-cwd\"]\nenv = { TOKEN = \"hunter2\" }\n"
	codex, connect := filepath.Join(home, ".codex", "config.toml"), filepath.Join(home, "lamplighter-connect")
	if err := errors.Join(os.Mkdir(filepath.Dir(codex), 0o700), os.WriteFile(codex, []byte(before), 0o600), os.WriteFile(connect, nil, 0o700)); err != nil {
		t.Fatal(err)
	}
	h := withSetup(setup.New(setup.Options{
		Home: home, Getenv: func(string) string { return "" }, State: filepath.Join(home, "state"), Connect: connect,
		Programs:  func() ([]process.Info, error) { return nil, nil },
		LookPath:  func(command string) (string, error) { return command, nil },
		PageOpens: func() bool { return true },
	}))
	file := func() string {
		t.Helper()
		content, err := os.ReadFile(codex)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	order := func(body string) setup.Result {
		t.Helper()
		w := try(t, h, "POST", setupPath, body)
		var result setup.Result
		if err := json.Unmarshal(w.Body.Bytes(), &result); err != nil || w.Code != 200 || len(result.Changes) != 1 || result.Changes[0].Path != codex || result.Failed() {
			t.Fatalf("%s: %d %s, %v", body, w.Code, w.Body, err)
		}
		if strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%s: a secret is in %s", body, w.Body)
		}
		return result
	}
	var seen setupClients
	w := try(t, h, "GET", setupPath, "")
	if err := json.Unmarshal(w.Body.Bytes(), &seen); err != nil || strings.Contains(w.Body.String(), "hunter2") || strings.Contains(strings.ReplaceAll(w.Body.String(), `"changed":null`, ""), "null") {
		t.Fatalf("%d %s, %v", w.Code, w.Body, err)
	}
	i := slices.IndexFunc(seen.Clients, func(c setup.Client) bool { return c.ID == "codex" })
	if i < 0 || len(seen.Clients[i].Files) != 1 || len(seen.Clients[i].Files[0].Entries) != 1 {
		t.Fatalf("got %+v", seen)
	}
	if e := seen.Clients[i].Files[0].Entries[0]; e.State != setup.Direct || !e.Serena || !strings.Contains(e.Becomes, "connect --or-direct -- serena start-mcp-server") {
		t.Errorf("got %+v", e)
	}
	shown := order(`{"client":"codex","dry_run":true}`)
	if file() != before {
		t.Errorf("a look changed it: %s", file())
	}
	quoted, err := json.Marshal(codex)
	if err != nil {
		t.Fatal(err)
	}
	// What was not shown is not changed.
	expect := `,"expect":{` + string(quoted) + `:"` + shown.Changes[0].Sum + `"}}`
	if err := os.WriteFile(codex, []byte(before+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := try(t, h, "POST", setupPath, `{"client":"codex"`+expect); w.Code != 200 || !strings.Contains(w.Body.String(), "changed since it was shown") || file() != before+"\n" {
		t.Errorf("%d %s: %s", w.Code, w.Body, file())
	}
	if err := os.WriteFile(codex, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if order(`{"path":` + string(quoted) + expect); !strings.Contains(file(), "lamplighter-connect") || !strings.Contains(file(), "# mine") {
		t.Errorf("got %s", file())
	}
	if result := order(`{"client":"codex","undo":true}`); file() != before || !result.Changes[0].Whole {
		t.Errorf("%+v: %s", result, file())
	}
	if err := os.WriteFile(filepath.Join(home, "other.toml"), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	quoted, err = json.Marshal(filepath.Join(home, "other.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if w := try(t, h, "POST", setupPath, `{"path":`+string(quoted)+`}`); w.Code != 404 {
		t.Errorf("a file of nobody: %d %s", w.Code, w.Body)
	}
}
