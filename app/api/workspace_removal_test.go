package api

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"lamplighter/app/workspace"
)

// What follows the question mark is understood whole, or refused.
func TestRemovalOf(t *testing.T) {
	for _, raw := range []string{"", "force=true", "dry_run=true&force=false", "force=true&force=false", "force=1", "Force=true", "force=%74rue", "force=true;dry_run=true", "from=1&to=0", "from=0", "to=-1", "from=1&to=+2", "force=tru%", "x=1"} {
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
	}
}
