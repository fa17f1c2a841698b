package doctor

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func joined(dirs ...string) string {
	for i := range dirs {
		if !strings.HasPrefix(dirs[i], ".") && dirs[i] != "" {
			dirs[i] = rooted(dirs[i])
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

func TestJudgePath(t *testing.T) {
	for name, test := range map[string]struct {
		facts pathFacts
		mark  Mark
		want  []string
	}{
		"same":         {pathFacts{desktop: joined("/bin", "/usr/bin"), login: joined("/usr/bin", "/bin")}, OK, []string{"us has 2 directories", "the shell's PATH has nothing more"}},
		"more":         {pathFacts{desktop: joined("/bin"), login: joined("/bin", "/go/bin")}, OK, []string{"us has 1 directory", "has 1 directory more: " + rooted("/go/bin")}},
		"missing":      {pathFacts{desktop: joined("/bin"), login: joined("/go/bin"), only: map[string]string{"gopls": rooted("/go/bin/gopls"), "uvx": rooted("/u/uvx")}}, Warn, []string{"only the shell finds uvx (" + filepath.FromSlash(rooted("/u")) + "), gopls ("}},
		"terminal":     {pathFacts{desktop: joined("/bin"), here: map[string]string{"serena": rooted("/v/serena")}}, Warn, []string{"only this terminal finds serena"}},
		"shell hangs":  {pathFacts{desktop: joined("/bin"), err: errors.New("no answer within 5s")}, Warn, []string{"the shell does not tell its PATH: no answer within 5s"}},
		"no shell":     {pathFacts{desktop: joined("/bin"), err: errors.ErrUnsupported}, OK, []string{"us has 1 directory"}},
		"empty":        {pathFacts{}, Warn, []string{"the PATH of us is empty"}},
		"relative":     {pathFacts{desktop: joined("/bin", ".", "")}, Warn, []string{`not absolute: "."`}},
		"login has it": {pathFacts{desktop: joined("/bin", "/bin"), login: joined("/bin")}, OK, []string{"us has 1 directory"}},
	} {
		test.facts.whose, test.facts.who = "us", "the shell"
		lines := judgePath(test.facts)
		if got := worst(lines); got != test.mark {
			t.Errorf("%s: %s, want %s:\n%s", name, got, test.mark, said(lines))
		}
		for _, want := range test.want {
			if !strings.Contains(said(lines), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, said(lines))
			}
		}
	}
}

func TestOnlyIn(t *testing.T) {
	disk := map[string][]string{"/a": {"gopls", "node"}, "/b": {"node"}, "/c": {"uvx"}}
	look := func(dirs []string, name string) string {
		for _, dir := range dirs {
			if slices.Contains(disk[dir], name) {
				return dir + "/" + name
			}
		}
		return ""
	}
	got := onlyIn([]string{"/a", "/b", "/c"}, []string{"/b"}, look)
	if len(got) != 2 || got["gopls"] != "/a/gopls" || got["uvx"] != "/c/uvx" {
		t.Errorf("got %v", got)
	}
}

func TestPathDirs(t *testing.T) {
	got := pathDirs(joined("/a", "", ".", "/b/../b", "/a"))
	want := []string{filepath.FromSlash(rooted("/a")), filepath.FromSlash(rooted("/b"))}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
