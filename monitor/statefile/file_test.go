package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

type list struct {
	Names []string `json:"names"`
}

var errNoList = errors.New("it is not a list of names")

func fileIn(t *testing.T, limit int64) File[list] {
	return File[list]{Path: filepath.Join(t.TempDir(), "state", "list.json"), Limit: limit, Broken: errNoList}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFile(t *testing.T) {
	f := fileIn(t, 40)
	if _, err := f.Read(); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoList) {
		t.Errorf("there is none: %v", err)
	}
	if err := f.Write(list{[]string{"one", "two"}}); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(); err != nil || strings.Join(got.Names, " ") != "one two" {
		t.Errorf("%v, %v", got, err)
	}
	const text = `{"names":["one","two"]}` + "\n"
	if err := f.Write(list{[]string{strings.Repeat("x", 40)}}); err == nil || err.Error() != f.Path+": it would be larger than 40 B" || content(t, f.Path) != text {
		t.Errorf("one that could not be read again: %v", err)
	}
}

func TestBrokenFile(t *testing.T) {
	f := fileIn(t, 40)
	for text, why := range map[string]string{
		"": "it is no JSON object", "null": "it is no JSON object", `["one"]`: "it is no JSON object", `{"names":`: "unexpected end",
		`{"names":1}`: "cannot unmarshal", "{" + strings.Repeat(" ", 40) + "}": "it is larger than 40 B",
	} {
		if err := Replace(f.Path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(); !errors.Is(err, errNoList) || !strings.HasPrefix(err.Error(), f.Path+": it is not a list of names: ") || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
	half := File[list]{Path: f.Path, Limit: 40, Broken: errNoList, Parse: func([]byte) (list, error) {
		return list{[]string{"half"}}, errors.New("a\x1bb")
	}}
	if err := Replace(f.Path, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := half.Read(); len(got.Names) != 1 || !errors.Is(err, errNoList) || !strings.HasSuffix(err.Error(), "names: ab") {
		t.Errorf("%v, %v", got, err)
	}
}

// What cannot be understood is kept, and until something else is in its place it
// stays there.
func TestQuarantine(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)
	path := filepath.Join(t.TempDir(), "list.json")
	for i, want := range []string{".corrupt-20260304T050607.089Z", ".corrupt-20260304T050607.090Z"} {
		at := at.Add(time.Duration(i) * time.Millisecond)
		if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		full := errors.New("the disk is full")
		if kept, err := Quarantine(path, at, func() error { return full }); !errors.Is(err, full) || kept != "" || content(t, path) != "broken" {
			t.Errorf("nothing was written: %q, %v", kept, err)
		}
		kept, err := Quarantine(path, at, func() error {
			if got := content(t, path); got != "broken" {
				t.Errorf("one that is killed now leaves %q", got)
			}
			return Replace(path, []byte("new"))
		})
		if err != nil || kept != path+want || content(t, kept) != "broken" || content(t, path) != "new" {
			t.Errorf("%q, %v", kept, err)
		}
		if found, err := filepath.Glob(path + "*"); err != nil || len(found) != i+2 {
			t.Errorf("%q, %v", found, err)
		}
	}
}

func TestQuarantineOfWhatIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.json")
	if kept, err := Quarantine(path, time.Now(), func() error { return Replace(path, []byte("new")) }); err != nil || kept != "" {
		t.Errorf("nothing was there: %q, %v", kept, err)
	}
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "in"), 0o700)); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	if _, err := Quarantine(path, time.Now(), func() error { return full }); !errors.Is(err, full) || !isThere(filepath.Join(path, "in")) {
		t.Errorf("nothing was written: %v", err)
	}
	kept, err := Quarantine(path, time.Now(), func() error { return Replace(path, []byte("new")) })
	if err != nil || content(t, path) != "new" || !isThere(filepath.Join(kept, "in")) {
		t.Errorf("%q, %v", kept, err)
	}
}

// Settings of clients are large, and read often.
func TestReadTakesLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data, err := Read(path, 8<<20)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; len(data) != 8<<20 || err != nil || taken > 10<<20 {
		t.Errorf("%d bytes, %v, and %d were taken", len(data), err, taken)
	}
	if _, err := Read(path, 8<<20-1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
