package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/setup/document"
)

// recordedAt is when the steps of these tests were taken.
var recordedAt = time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)

// aStep is the n-th change of a file in dir.
func aStep(dir, name string, n int) step {
	path := filepath.Join(dir, name)
	return step{
		Path: path, Client: "cursor", At: recordedAt.Add(time.Duration(n) * time.Minute),
		Before: sum([]byte{byte(n)}), After: sum([]byte{byte(n + 1)}), Backup: path + ".lamplighter-backup",
		Entries: []stepEntry{{
			Path:   []string{"mcpServers", "a \"name\" <ü>"},
			Before: document.Source{Command: `"serena"`, Args: "[\n\t\"x\", // why\n]", HasArgs: true},
			After:  document.Source{Command: `"lamplighter-connect"`, Args: `["connect"]`, HasArgs: true},
		}},
	}
}

func load(t *testing.T, dir string) *record {
	t.Helper()
	r, err := loadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func lay(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	r := load(t, dir)
	if r.unread != nil || r.paths() != nil || r.steps(dir) != nil {
		t.Errorf("a record that is not there: %+v", r)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("looking has made its directory")
	}
	a1, b, a2 := aStep(dir, "a.json", 1), aStep(dir, "b.json", 2), aStep(dir, "a.json", 3)
	for _, s := range []step{a1, b, a2} {
		if err := r.push(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []*record{r, load(t, dir)} {
		if got := r.steps(a1.Path); !reflect.DeepEqual(got, []step{a1, a2}) {
			t.Errorf("the steps are %+v", got)
		}
		if got := r.paths(); !slices.Equal(got, []string{a1.Path, b.Path}) {
			t.Errorf("the paths are %q", got)
		}
	}
	if info, err := os.Lstat(filepath.Join(dir, recordName)); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	its := r.steps(a1.Path)
	for _, s := range slices.Backward(its) { // the steps are the caller's
		if err := r.drop(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.drop(a1); err != nil {
		t.Errorf("dropped again: %v", err)
	}
	if got := load(t, dir).all; !reflect.DeepEqual(got, []step{b}) {
		t.Errorf("left are %+v", got)
	}
	if err := load(t, dir).drop(b); err != nil {
		t.Fatal(err)
	}
	if r := load(t, dir); r.unread != nil || len(r.all) > 0 {
		t.Errorf("an empty record: %+v", r)
	}
}

// What is no record is no reason to refuse anything, and is kept.
func TestRecordUnread(t *testing.T) {
	dir := t.TempDir()
	good := aStep(dir, "good.json", 1)
	data, err := encodeRecord(notes{all: []step{good}})
	if err != nil {
		t.Fatal(err)
	}
	whole := string(data)
	for name, c := range map[string]struct {
		content string
		says    string
		steps   int
	}{
		"not JSON":           {"\x1b[2Jsetup", "invalid character", 0},
		"cut off":            {whole[:len(whole)-9], "unexpected end", 0},
		"twice":              {whole + whole, "after top-level value", 0},
		"another JSON":       {"[]", "cannot unmarshal array", 0},
		"null":               {"null", "no version", 0},
		"no version":         {strings.Replace(whole, `"version": 1`, `"revision": 1`, 1), "no version", 0},
		"version 0":          {strings.Replace(whole, `"version": 1`, `"version": 0`, 1), "no version", 0},
		"version 0.5":        {strings.Replace(whole, `"version": 1`, `"version": 0.5`, 1), "no version 0.5", 0},
		"a word for version": {strings.Replace(whole, `"version": 1`, `"version": "2"`, 1), "cannot unmarshal string", 0},
		"no steps":           {`{"version": 1}`, "no list of steps", 0},
		"null steps":         {`{"version": 1, "steps": null}`, "no list of steps", 0},
		"a bad step":         {strings.Replace(whole, "[\n\t\t{", "[null, 7, {\"path\": \"x\"}, {", 1), "3 of 4 steps", 1},
		"a relative path":    {strings.Replace(whole, `"path": "`, `"path": "x`, 1), "1 of 1 steps", 0},
		"no sum":             {strings.Replace(whole, good.After, strings.Repeat("X", 64), 1), "1 of 1 steps", 0},
		"no literal":         {strings.Replace(whole, `\"serena\"`, `serena`, 1), "1 of 1 steps", 1},
		"no list":            {strings.Replace(whole, `"args": "[\n`, `"args": "{\n`, 1), "1 of 1 steps", 1},
		"a nameless entry":   {strings.Replace(whole, `"entries": [`, `"entries": [{"path": []},`, 1), "1 of 1 steps", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, recordName)
			lay(t, path, c.content)
			r := load(t, dir)
			if len(r.all) != c.steps || r.unread == nil || !errors.Is(r.unread, errRecord) || !strings.Contains(r.unread.Error(), c.says) ||
				strings.Count(r.unread.Error(), path) != 1 || strings.Contains(r.unread.Error(), "\x1b") {
				t.Fatalf("%d steps, %v", len(r.all), r.unread)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != c.content {
				t.Error("looking has changed it")
			}
			next := aStep(dir, "next.json", 2)
			if err := r.push(next); err != nil || r.unread != nil {
				t.Fatal(err, r.unread)
			}
			if r := load(t, dir); r.unread != nil || len(r.all) != c.steps+1 || len(r.steps(next.Path)) != 1 {
				t.Errorf("%+v", r)
			}
			aside, err := filepath.Glob(path + ".corrupt-*")
			if err != nil || len(aside) != 1 {
				t.Fatal(aside, err)
			}
			if got, err := os.ReadFile(aside[0]); err != nil || string(got) != c.content {
				t.Errorf("set aside was %q, %v", got, err)
			}
		})
	}
	lay(t, filepath.Join(dir, recordName), " \n")
	if r := load(t, dir); r.unread != nil || len(r.all) > 0 {
		t.Errorf("of an empty file: %+v", r)
	}
}

func TestRecordRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, recordName)
	for _, version := range []string{"2", "1.5", "1e9"} {
		text := `{"version": ` + version + `, "steps": {"another": "form"}}`
		lay(t, path, text)
		_, err := loadRecord(dir)
		if err == nil || !strings.HasPrefix(err.Error(), path+": a newer lamplighter has written it") {
			t.Errorf("%s: %v", version, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("it holds %q, %v", got, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
}

// What is no file, and is kept, is no reason to refuse anything either. Where
// nothing can be written it stays as it was.
func TestRecordOther(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, recordName)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	lay(t, filepath.Join(path, "in"), "")
	r := load(t, dir)
	if !errors.Is(r.unread, errRecord) || strings.Count(r.unread.Error(), path) != 1 || !strings.Contains(r.unread.Error(), "no file") {
		t.Fatal(r.unread)
	}
	s := aStep(dir, "a.json", 1)
	full := errors.New("the disk is full")
	r.write = func(notes) error { return full }
	if err := r.push(s); !errors.Is(err, full) || r.unread == nil || isGone(filepath.Join(path, "in")) {
		t.Fatal(err, r.unread)
	}
	if err := load(t, dir).push(s); err != nil {
		t.Fatal(err)
	}
	if r := load(t, dir); r.unread != nil || len(r.all) != 1 {
		t.Errorf("%+v", r)
	}
	if aside, err := filepath.Glob(path + ".corrupt-*/in"); err != nil || len(aside) != 1 {
		t.Error(aside, err)
	}
}

// A record that cannot be understood lies at its place until another does.
func TestRecordUnreadStays(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, recordName)
	const text = "no record"
	lay(t, path, text)
	r := load(t, dir)
	full := errors.New("the disk is full")
	r.write = func(notes) error {
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("one that is killed now leaves %q, %v", got, err)
		}
		return full
	}
	for range 2 {
		if err := r.push(aStep(dir, "a.json", 1)); !errors.Is(err, full) || !errors.Is(r.unread, errRecord) || len(r.all) > 0 {
			t.Errorf("%v, %v, %d steps", err, r.unread, len(r.all))
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Error(left, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("it holds %q, %v", got, err)
		}
	}
}

// What may be read another time is not set aside, and undo does without it.
func TestRecordUnreadable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, recordName)
	lay(t, path, "")
	trouble := errors.New("input/output error")
	r := load(t, dir)
	r.unread = trouble
	s := aStep(dir, "a.json", 1)
	if err := r.push(s); !errors.Is(err, trouble) {
		t.Error(err)
	}
	if err := r.drop(s); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Error(left, err)
	}
}

// What cannot be written has not happened.
func TestRecordNotWritten(t *testing.T) {
	dir := t.TempDir()
	r := load(t, dir)
	one := aStep(dir, "a.json", 1)
	if err := r.push(one); err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]step{
		"its name is not UTF-8": aStep(dir, "b\xff.json", 2),
		"the step cannot":       {Path: one.Path},
		"year outside of range": func() step {
			s := aStep(dir, "b.json", 2)
			s.At = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)
			return s
		}(),
	} {
		if err := r.push(s); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %s", err, what)
		}
	}
	path := filepath.Join(dir, recordName)
	if err := errors.Join(os.Rename(path, path+".kept"), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.push(aStep(dir, "b.json", 2)), r.drop(one)); err == nil || strings.Count(err.Error(), path) != 2 {
		t.Error(err)
	}
	if err := errors.Join(os.Remove(path), os.Rename(path+".kept", path)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*record{r, load(t, dir)} {
		if !reflect.DeepEqual(r.all, []step{one}) {
			t.Errorf("it holds %+v", r.all)
		}
	}
}

// Steps of files that are gone are not kept for ever.
func TestRecordForgets(t *testing.T) {
	dir := t.TempDir()
	r := load(t, dir)
	gone, kept, backed := aStep(dir, "gone.json", 1), aStep(dir, "kept.json", 2), aStep(dir, "backed.json", 3)
	lay(t, kept.Path, "")
	lay(t, backed.Backup, "")
	for _, s := range []step{gone, kept, backed} {
		if err := r.push(s); err != nil {
			t.Fatal(err)
		}
	}
	soon, late := aStep(dir, "soon.json", 4), aStep(dir, "late.json", 5)
	lay(t, soon.Path, "")
	soon.At, late.At = gone.At.Add(remembered), gone.At.Add(remembered+time.Second)
	for _, c := range []struct {
		s    step
		want []string
	}{
		{soon, []string{gone.Path, kept.Path, backed.Path, soon.Path}},
		{late, []string{kept.Path, backed.Path, soon.Path, late.Path}},
	} {
		if err := r.push(c.s); err != nil {
			t.Fatal(err)
		}
		if got := load(t, dir).paths(); !slices.Equal(got, c.want) {
			t.Errorf("the paths are %q, want %q", got, c.want)
		}
	}
}
