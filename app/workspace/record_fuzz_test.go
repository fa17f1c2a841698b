package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// FuzzRecord: the record of a workspace, whatever has become of the file, is read as
// one that can be acted on, or nothing is done with that workspace; and writing
// changes nothing of it.
func FuzzRecord(f *testing.F) {
	const id = "019aa0c3-0000-7000-8000-00001a2b3c4d"
	const whole = `"id":"` + id + `","name":"alpha-fix-1a2b3c4d","path":"/trees/alpha-fix-1a2b3c4d","kind":"temp","job":"fix","state":"ready","cleanup":"completion"`
	for _, seed := range []string{
		`{"schema":1,` + whole + `,"retention_seconds":86400,"root":"1-2","history":[{"at":"2026-11-20T12:00:00Z","what":"created","detail":""}]}`,
		`{"schema":1,` + whole + `,"step":{"verb":"remove","by":"a test","trash":"/trees/.trash"},"done":{"boot":"b"}}`,
		`{` + whole + `,"retention_seconds":9223372036854775807}`, `{` + whole + `,"retention_seconds":-1}`, `{` + whole + `,"retention_seconds":1e99}`,
		`{"id":"` + id + `","name":"..","path":"/trees/.."}`, `{"id":"` + id + `","name":"/","path":"/"}`, `{"id":"` + id + `","name":"x","path":"x"}`,
		`{"id":"019aa0c3-0000-7000-8000-00001a2b3c4e"}`, `{}`, `null`, `[]`, ``, "\x00", `{"schema":1`,
	} {
		f.Add([]byte(seed))
	}
	s := store{f.TempDir()}
	if err := s.prepare(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(s.recordPath(id), data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := s.read(id)
		if err != nil {
			if r != nil || errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%v, %v", r, err)
			}
			return
		}
		if r.ID != id || !filepath.IsAbs(r.Path) || filepath.Join(filepath.Dir(r.Path), r.Name) != r.Path || filepath.Dir(r.Path) == r.Path || r.Retention < 0 || r.Retention/time.Second != time.Duration(r.RetentionSeconds) {
			t.Fatalf("%q: %+v", data, r)
		}
		data, err = json.Marshal(r) // as write does, which waits for the disk
		if err != nil {
			return // such as a time that cannot be written
		}
		if err := os.WriteFile(s.recordPath(id), data, 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := s.read(id)
		if err != nil || !reflect.DeepEqual(again.Workspace, r.Workspace) || !reflect.DeepEqual(again.Step, r.Step) || len(again.History) != len(r.History) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}
