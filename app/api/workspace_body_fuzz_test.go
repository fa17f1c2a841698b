package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"lamplighter/app/workspace"
)

// FuzzWorkspaceBodies: an order about workspaces is what stands in the body, within
// its bounds, or it is refused whole. Above all nothing but the very word true in its
// place makes a removal lose something.
func FuzzWorkspaceBodies(f *testing.F) {
	for _, body := range []string{
		`{"kind":"temp","from":"/src","job":"fix","share":["node_modules"],"retention_seconds":60,"serve":true}`,
		`{"kind":"hybrid","job":"x","retention_seconds":9223372036854775807}`, `{"kind":"temp","job":"x","retention_seconds":-1}`,
		`{"kind":"temp","job":"x","in":"relative"}`, `{"message":"the parser works"}`, `{"version":2}`, `{"version":-1}`, `{"version":1e400}`,
		`{"dirs":["/a","/b"]}`, `{"dirs":["a"]}`, `{"path":"/w","dry_run":true}`, `{"path":"/w","force":"true"}`, `{"path":"/w","force":1}`,
		`{"path":"/w","force":false,"force":true}`, `{"path":"/w","Force":true}`, `{"path":"/w","force":null}`, `{"path":"/w","forc\u0065":true}`, "", "{}", "null",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var all map[string]any
		read := json.Unmarshal(body, &all) == nil && utf8.Valid(body)
		accepted := func(err error) bool {
			if err == nil && !read && len(body) > 0 {
				t.Fatalf("%q was taken", body)
			}
			return err == nil
		}
		if o, err := parseCreate(body); accepted(err) {
			if o.Job == "" || o.Job != all["job"] || string(o.Kind) != all["kind"] || o.Retention < 0 || o.Retention > mostRetention || len(o.Share) > mostListed {
				t.Errorf("%q: %+v", body, o)
			}
			for _, path := range []string{o.From, o.In} {
				if path != "" && !filepath.IsAbs(path) {
					t.Errorf("%q is taken", path)
				}
			}
			if o.Retention%time.Second != 0 || o.Serve != (all["serve"] == true) {
				t.Errorf("%q: %+v", body, o)
			}
		}
		if message, err := parseMessage(body); accepted(err) && (message == "" || message != all["message"]) {
			t.Errorf("%q: %q", body, message)
		}
		if version, err := parseRestore(body); accepted(err) && version < 0 {
			t.Errorf("%q: version %d", body, version)
		}
		if dirs, err := parseScan(body); accepted(err) {
			if len(dirs) == 0 || len(dirs) > mostListed || slices.ContainsFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) }) {
				t.Errorf("%q: %q", body, dirs)
			}
		}
		if o, err := parseStale(body); accepted(err) {
			if !filepath.IsAbs(o.path) || o.path != all["path"] || o.Force != (all["force"] == true) || o.DryRun != (all["dry_run"] == true) {
				t.Errorf("%q: %+v", body, o)
			}
		}
		if _, err := parseNothing(body); accepted(err) && len(all) > 0 {
			t.Errorf("%q says nothing", body)
		}
	})
}

// FuzzRemovalOf: what follows the question mark is understood whole, or refused.
func FuzzRemovalOf(f *testing.F) {
	for _, seed := range []string{"", "force=true", "dry_run=true&force=false", "force=true&force=false", "force=1", "Force=true", "force=%74rue", "force=true;dry_run=true", "from=1&to=0", "from=0", "to=-1", "from=1&to=+2", "force=tru%", "x=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		req := httptest.NewRequest(http.MethodDelete, "/workspaces/x", nil)
		req.URL.RawQuery = raw
		values, _ := url.ParseQuery(raw)
		if q, err := removalOf(req, nil); err == nil {
			if q.Force != slices.Equal(values["force"], []string{"true"}) || q.DryRun != slices.Equal(values["dry_run"], []string{"true"}) {
				t.Errorf("%q: %+v", raw, q)
			}
		} else if q != (workspace.Removal{}) && q.Force {
			t.Errorf("%q: %+v, %v", raw, q, err)
		}
		if from, to, err := versionsOf(req); err == nil && (from == 0 || from < -1 || to < 0 || from == -1 && values.Has("from")) {
			t.Errorf("%q: from %d to %d", raw, from, to)
		}
	})
}
