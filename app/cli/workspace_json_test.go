package cli

import (
	"encoding/json"
	"reflect"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/workspace"
)

// What the verbs print for programs is what the API answers.
func TestWorkspaceJSON(t *testing.T) {
	d, f := workspaceDesktop(t)
	f.list[0].SizeBytes = -1
	f.versions = []workspace.Version{{Number: 1, Message: "first"}}
	f.outcome = workspace.Outcome{Workspace: f.list[0], Done: true, What: "removed", Loss: &workspace.Loss{}}
	f.scanned = workspace.Scanned{Worktrees: []workspace.Stale{{Path: "/a"}}}
	w, outcome := api.EncodeWorkspace(f.list[0]), api.EncodeOutcome(f.outcome)
	if w.SizeBytes != nil || w.Problem != nil {
		t.Fatalf("%+v", w)
	}
	removed := map[string]any{}
	same(t, outcome, &removed)
	removed["argument"] = "fix"
	archived := f.list[0]
	archived.Archive = &workspace.Archive{Path: "/archives/a.tar.zst", Bytes: 2e6}
	for _, test := range []struct {
		args []string
		want any
	}{
		{[]string{"create", "--kind", "temp", "--job", "fix"}, w},
		{[]string{"list"}, map[string]any{"workspaces": []api.Workspace{w}}},
		{[]string{"show", "fix"}, api.EncodeShown(f.list[0], f.versions)},
		{[]string{"archive", "fix"}, api.EncodeWorkspace(archived)},
		{[]string{"restore", "fix"}, w},
		{[]string{"complete", "fix"}, outcome},
		{[]string{"rm", "fix"}, map[string]any{"results": []any{removed}}},
		{[]string{"scan", "/p"}, api.EncodeScanned(f.scanned)},
	} {
		d.out = apptest.Buffer{}
		if got := d.runs(t, append(append([]string{"workspace"}, test.args...), "--json")...); got != 0 {
			t.Errorf("%q: %d %s", test.args, got, d.err.String())
			continue
		}
		var got, want any
		if err := json.Unmarshal([]byte(d.out.String()), &got); err != nil {
			t.Errorf("%q: %v", test.args, err)
		}
		same(t, test.want, &want)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q prints\n%v, the API answers\n%v", test.args, got, want)
		}
	}
}

// same puts what the API answers with into what JSON makes of it.
func same(t *testing.T, answer, into any) {
	t.Helper()
	text, err := api.Marshal(answer)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
