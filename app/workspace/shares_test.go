package workspace

import (
	"maps"
	"path/filepath"
	"testing"
)

func TestShares(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	files := map[string]string{
		"a": "a", "node_modules/x/y": "y", "packages/p/node_modules/z": "z", "packages/p/q": "q", "real/cache/c": "c", "aside": "-> real", "linked": "-> real/cache",
	}
	cache := l.source("cache", map[string]string{"big": "big"})
	from := l.source("from", files)
	w := l.create(m, Request{From: from, Share: []string{"node_modules", "packages/../packages/p/node_modules/", "aside/cache", "linked", cache}})
	want := map[string]string{
		"a": "a", "packages/p/q": "q", "aside": "-> real",
		"node_modules":            "-> " + filepath.Join(from, "node_modules"),
		"packages/p/node_modules": "-> " + filepath.Join(from, "packages", "p", "node_modules"),
		"real/cache":              "-> " + filepath.Join(from, "real", "cache"),
		"linked":                  "-> " + filepath.Join(from, "real", "cache"),
		"cache":                   "-> " + cache,
	}
	if got := content(t, w.Path); !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if want := (Share{From: filepath.Join(from, "real", "cache"), To: "real/cache"}); len(w.Shares) != 5 || w.Shares[2] != want {
		t.Errorf("%+v", w.Shares)
	}

	files = map[string]string{".gitignore": "node_modules\n", "a": "a", "web/b": "b"}
	repo := l.repository("repo", files)
	write(t, repo, map[string]string{"node_modules/x": "x", "web/node_modules/y": "y"})
	w = l.create(m, Request{From: filepath.Join(repo, "web"), Share: []string{"node_modules"}})
	files["web/node_modules"] = "-> " + filepath.Join(repo, "web", "node_modules")
	if got := content(t, w.Path); !maps.Equal(got, files) {
		t.Errorf("%q, want %q", got, files)
	}
	if status := git(t, w.Path, "status", "--porcelain"); status != "" {
		t.Errorf("changed from the beginning: %s", status)
	}
}

// Where the file system does not tell letters of two cases apart, what is shared
// is left out however it is spelled.
func TestSkip(t *testing.T) {
	l := newLab(t)
	from := l.source("from", map[string]string{"Cache/x": "x", "other/Cache/y": "y", ".w.part/z": "z"})
	insensitive := sameFile(filepath.Join(from, "cache"), filepath.Join(from, "Cache"))
	b := &blueprint{from: from, shares: []share{{Share: Share{To: "cache"}, local: true}, {Share: Share{To: "other"}}}}
	skip := b.skip(filepath.Join(from, ".w.part"))
	for name, want := range map[string]bool{"cache": true, "Cache": insensitive, "other": false, "other/Cache": false, ".w.part": true, "other/.w.part": false} {
		if skip(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestLinkSharesStaysInside(t *testing.T) {
	l := newLab(t)
	dir := l.source("tree", map[string]string{"out": "-> ../outside"})
	outside := l.source("outside", nil)
	err := linkShares(dir, []share{{Share: Share{From: outside, To: "out/x"}}})
	if err == nil || len(names(t, outside)) != 0 {
		t.Errorf("%v: a share was made outside", err)
	}
}
