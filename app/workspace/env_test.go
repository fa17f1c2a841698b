package workspace

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/app/workspace/gitwork"
)

func TestInherited(t *testing.T) {
	got := inherited([]string{
		"PATH=/bin", "GIT_DIR=/other/.git", "git_index_file=x", "GIT_PREFIX=sub/", "GIT_AUTHOR_NAME=A", "PWD=/other", "OLDPWD=/", "INIT_CWD=/other",
		"GIT_EDITOR=vi", "CLAUDE_PROJECT_DIR=/other", "GIT_DIRECTORY=", "HOME=/h", "GIT_QUARANTINE_PATH=q",
	}, "/w")
	if want := []string{"PATH=/bin", "GIT_AUTHOR_NAME=A", "GIT_EDITOR=vi", "GIT_DIRECTORY=", "HOME=/h", "PWD=/w"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// All that git itself calls local to a repository binds it to one.
func TestBindingsAreAllOfGit(t *testing.T) {
	for _, name := range strings.Fields(git(t, ".", "rev-parse", "--local-env-vars")) {
		if !slices.Contains(gitwork.Bindings, name) {
			t.Errorf("%s is handed on to jobs", name)
		}
	}
}

func TestEnvText(t *testing.T) {
	for a, b := range map[string]string{"/home/a b/it's": "'", "$(x)": "`\\\n\""} {
		text := string(envText("name", []string{"A=" + a, "B=" + b}))
		// Read as sh does: within quotes nothing is special, and between them there is
		// nothing but a quote that is written out.
		var values []string
		_, rest, _ := strings.Cut(text, "\nunset "+strings.Join(gitwork.Bindings, " ")+"\n")
		for _, key := range []string{"A", "B"} {
			var found bool
			if rest, found = strings.CutPrefix(rest, "export "+key+"='"); !found {
				t.Fatalf("%q", text)
			}
			var value strings.Builder
			for {
				quoted, after, _ := strings.Cut(rest, "'")
				value.WriteString(quoted)
				if rest, found = strings.CutPrefix(after, `\''`); !found {
					rest = strings.TrimPrefix(after, "\n")
					break
				}
				value.WriteByte('\'')
			}
			values = append(values, value.String())
		}
		if rest != "" || values[0] != a || values[1] != b {
			t.Errorf("%q: %q, %q", text, values, rest)
		}
	}
}
