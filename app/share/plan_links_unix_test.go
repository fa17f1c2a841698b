//go:build unix

package share

import (
	"os"
	"testing"
)

// Wine, where the tests for Windows run, resolves no links.
func TestLinkedRoots(t *testing.T) {
	m := newMachine(t)
	repo := m.repo("alpha")
	m.repo("beta")
	m.link("alpha", "linked")
	m.dir("elsewhere")
	m.link("alpha/.git", "elsewhere/.git") // exists, as Serena sees it
	a := asker(nil)
	key := planned(t, a, m.wish(repo, fromCwd)).Key
	for _, w := range []Request{
		m.wish(m.path("linked"), fromCwd),
		m.wish(m.path("beta"), "serena start-mcp-server --project ../linked --context claude-code"),
		m.wish(m.path("beta"), "serena start-mcp-server --context claude-code "+m.path("linked")),
	} {
		if p := planned(t, a, w); p.Key != key {
			t.Errorf("%q in %s: %q", w.Command, w.Dir, p.Facts)
		}
	}
	if p := planned(t, a, m.wish(m.path("elsewhere"), fromCwd)); p.Spec.Project != m.path("elsewhere") || p.Key == key {
		t.Errorf("%+v", p.Spec)
	}
	// What Serena makes when it starts changes no key.
	w := m.wish(repo, fromCwd)
	w.Env = append(w.Env, "SERENA_HOME="+m.path("linked")+"/.serena/")
	before := planned(t, a, w).Key
	m.dir("alpha/.serena")
	if p := planned(t, a, w); p.Key != before {
		t.Errorf("with its home made: %q", p.Facts)
	}
}

// A context that is a link to where a person keeps it has another name when the link has.
func TestFingerprintOfLinks(t *testing.T) {
	m := newMachine(t)
	m.file("kept/one.yml")
	m.dir("home/.serena/contexts")
	w := wish{serenaHome: m.path("home/.serena")}
	m.link("kept/one.yml", "home/.serena/contexts/a.yml")
	before := w.sum("")
	if err := os.Rename(m.path("home/.serena/contexts/a.yml"), m.path("home/.serena/contexts/b.yml")); err != nil {
		t.Fatal(err)
	}
	if w.sum("") == before {
		t.Error("the same")
	}
}
