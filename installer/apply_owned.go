package installer

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter/monitor/statefile"
)

// owned are things that Lamplighter writes into a state or runtime directory.
type owned struct {
	pattern string         // of fs.Glob
	name    *regexp.Regexp // of the last part of the path; nil: the pattern says enough
	is      func(path string, info fs.FileInfo) bool
}

// What the names of Lamplighter's are made of.
const (
	uuidForm  = `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`
	keyForm   = `[0-9a-f]{1,128}`
	stampForm = `\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}`
)

// ownedThings are all of them. In a directory that the user chose anything of the
// user's may have such a name, so that a name alone is enough only when it says
// Lamplighter's, or is a UUID, a digest or a time.
var ownedThings = sync.OnceValue(func() []owned {
	exactly := func(form string) *regexp.Regexp { return regexp.MustCompile(`^(` + form + `)$`) }
	list := []owned{
		{"lamplighter.lock", nil, isNote}, {"lamplighter.log", nil, isFile}, {"lamplighter-*.log", exactly(`lamplighter-` + stampForm + `\.log`), isFile},
		{"global-dashboard-opened", nil, isNote}, {"run/global-dashboard-opened", nil, isNote},
		{"welcomed", nil, isTime}, {"welcome-notified", nil, isTime},
		{"alive.lock", nil, isLock}, {"events.lock", nil, isLock}, {"setup.lock", nil, isLock},
		{"control.sock", nil, isSocket}, {"share.sock", nil, isSocket}, {"run/control.sock", nil, isSocket}, {"run/share.sock", nil, isSocket},
		{"control.sock.lock", nil, isLock}, {"run/control.sock.lock", nil, isLock},
		{"keys/*.lock", exactly(keyForm + `\.lock`), isLock}, {"run/keys/*.lock", exactly(keyForm + `\.lock`), isLock},
		{"servers/*", exactly(uuidForm), isDir}, {"neutral", nil, isEmpty},
		{"events.jsonl", nil, holds("at", "kind")}, {"events-*.jsonl", exactly(`events-` + stampForm + `\.jsonl`), isFile},
		{journalName + ".corrupt*", exactly(regexp.QuoteMeta(journalName) + `\.corrupt(-\d+)?`), isFile},
		// Of workspaces all but what keeps order there has gone before.
		{"workspaces/records/*", exactly(uuidForm + `\.json`), isFile}, {"workspaces/making/*", exactly(uuidForm + `\.json`), isFile},
		{"workspaces/data/*", exactly(uuidForm), isDir},
		{"workspaces/locks/*", exactly(`(` + uuidForm + `|store)\.lock`), isLock}, {"workspaces/serve.lock", nil, isLock},
		{"workspaces/told.json", nil, holds("told")}, {"workspaces/scanned.json", nil, holds("repositories")},
	}
	for name, keys := range map[string][]string{
		"registry.json": {"version", "entries"}, "policy.json": {"boot", "kept", "paused", "off"}, "pins.json": {"boot", "pins"},
		"proofs.json": {"boot", "proofs"},
		"setup.json":  {"version", "steps"}, "verdicts.json": {"version", "verdicts"}, receiptName: {"version", "installed_at", "files", "folders"},
	} {
		quoted := regexp.QuoteMeta(name)
		list = append(list, owned{name, nil, holds(keys...)},
			owned{name + ".corrupt-*", exactly(quoted + `\.corrupt-\d{8}T\d{6}\.\d{3}Z(-\d+)?`), isFile},
			owned{"." + name + ".*.tmp", exactly(`\.` + quoted + `\.\d+\.tmp`), isFile},
			owned{"." + name + stagedSuffix, nil, isFile})
	}
	return list
})

// ownedIn are the things of Lamplighter's in a directory, as whole paths. Nothing
// behind a link is in it.
func ownedIn(dir string) []string {
	var list []string
	for _, o := range ownedThings() {
		names, err := fs.Glob(os.DirFS(dir), o.pattern)
		if err != nil {
			continue // of a pattern that is wrong
		}
		for _, name := range names {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if o.name != nil && !o.name.MatchString(filepath.Base(path)) || behindLink(dir, name) {
				continue
			}
			if info, err := os.Lstat(path); err == nil && o.is(path, info) {
				list = append(list, path)
			}
		}
	}
	slices.Sort(list)
	return list
}

// ownedNames makes a test for the names that Lamplighter gives right in a directory of
// its own.
func ownedNames() func(name string) bool {
	list := ownedThings()
	return func(name string) bool {
		// What files are called while they are written.
		if inner, ok := strings.CutPrefix(name, "."); ok {
			if whole, _, ok := strings.Cut(inner, ".tmp"); ok {
				name = strings.TrimRight(whole, ".0123456789")
			} else {
				name = strings.TrimSuffix(inner, stagedSuffix)
			}
		}
		if name == settingsName || name == workspacesName || name == lockName || name == journalName {
			return true
		}
		return slices.ContainsFunc(list, func(o owned) bool {
			top, below, _ := strings.Cut(o.pattern, "/")
			if below == "" && o.name != nil {
				return o.name.MatchString(name)
			}
			return top == name
		})
	}
}

// behindLink reports whether a directory between dir and a name in it is none, or a
// link.
func behindLink(dir, name string) bool {
	parts := strings.Split(name, "/")
	for n := 1; n < len(parts); n++ {
		info, err := os.Lstat(filepath.Join(dir, filepath.Join(parts[:n]...)))
		if err != nil || !info.IsDir() {
			return true
		}
	}
	return false
}

// ownedDirs are the directories that Lamplighter makes for what of its own was at
// some paths in dir, the deepest first: they go when they are empty.
func ownedDirs(dir string, paths []string) []string {
	var list []string
	for _, path := range paths {
		for parent := filepath.Dir(path); parent != dir && within(parent, dir); parent = filepath.Dir(parent) {
			list = append(list, parent)
		}
	}
	// Whoever locks the store has made all of its directories.
	if store := filepath.Join(dir, workspacesName); slices.Contains(paths, filepath.Join(store, "locks", "store.lock")) {
		for _, name := range []string{"records", "data", "trees", "archives", "making"} {
			list = append(list, filepath.Join(store, name))
		}
	}
	return deepestFirst(list)
}

func isFile(_ string, info fs.FileInfo) bool { return info.Mode().IsRegular() }
func isDir(_ string, info fs.FileInfo) bool  { return info.IsDir() }

// isEmpty reports whether there is a directory with nothing in it.
func isEmpty(path string, info fs.FileInfo) bool {
	entries, err := os.ReadDir(path)
	return info.IsDir() && err == nil && len(entries) == 0
}

// isSocket reports whether a file is a socket. On Windows that is irregular.
func isSocket(_ string, info fs.FileInfo) bool {
	return info.Mode()&fs.ModeSocket != 0 || info.Mode()&fs.ModeIrregular != 0
}

// isLock reports whether a file is a lock: nothing is in it but the process that
// holds it.
func isLock(path string, info fs.FileInfo) bool {
	text, ok := short(path, info)
	return ok && strings.Trim(text, "0123456789\r\n") == ""
}

// isNote reports whether a file is a short text in one line.
func isNote(path string, info fs.FileInfo) bool {
	text, ok := short(path, info)
	return ok && !strings.Contains(strings.TrimSuffix(text, "\n"), "\n")
}

// isTime reports whether a file has a time in it, and nothing else.
func isTime(path string, info fs.FileInfo) bool {
	text, ok := short(path, info)
	_, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	return ok && err == nil
}

// short reads a file of a few bytes.
func short(path string, info fs.FileInfo) (string, bool) {
	const most = 256
	if !info.Mode().IsRegular() || info.Size() > most {
		return "", false
	}
	text, err := statefile.Read(path, most)
	return string(text), err == nil
}

// holds makes a test for a file whose first JSON value is an object with keys.
func holds(keys ...string) func(path string, info fs.FileInfo) bool {
	return func(path string, info fs.FileInfo) bool {
		if !info.Mode().IsRegular() {
			return false
		}
		file, err := statefile.Open(path, os.O_RDONLY, 0)
		if err != nil {
			return false
		}
		defer file.Close()
		var object map[string]json.RawMessage
		err = json.NewDecoder(io.LimitReader(file, ownedLimit)).Decode(&object)
		return err == nil && !slices.ContainsFunc(keys, func(key string) bool { return len(bytes.TrimSpace(object[key])) == 0 })
	}
}

// ownedLimit is how much of a file is read to know it, in bytes.
const ownedLimit = 128 << 20
