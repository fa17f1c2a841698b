package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
)

// completes types a line at a bash that has loaded our script, with what the
// program offers; the last word is not finished. It returns what bash would
// insert or list. The helpers of the package bash-completion are stood in for.
func (d *desktop) completes(t *testing.T, dir string, words ...string) string {
	t.Helper()
	d.out = apptest.Buffer{}
	d.runs(t, "completion", "bash")
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte(d.out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	d.out = apptest.Buffer{}
	d.runs(t, append([]string{"__complete"}, words[1:]...)...)
	offers := filepath.Join(dir, "offers")
	if err := os.WriteFile(offers, []byte(d.out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	const drive = `
_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
__ltrim_colon_completions() { :; }
compopt() { :; }
lamplighter() { cat "$OFFERS"; }
source "$SCRIPT"
COLUMNS=80 COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
__start_lamplighter
printf '%s\n' "${COMPREPLY[@]}"`
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", drive, "bash"}, words...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SCRIPT="+script, "OFFERS="+offers)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// A shell takes what projects are called for words, not for commands.
func TestBashCompletes(t *testing.T) {
	dir := t.TempDir()
	d := newDesktop(t, daemontest.SerenaAt(4711, 24284, "$(touch pwned)"), daemontest.SerenaAt(4712, 24285, "`touch pwned`"), daemontest.SerenaAt(50, 24286, "my project"),
		daemontest.SerenaAt(51, 24287, "a;touch pwned"), daemontest.SerenaAt(52, 24288, "x\n$(touch pwned)"))
	for _, test := range []struct{ line, want string }{
		{"lamplighter|stop|my", `my\ project`},
		{"lamplighter|stop|a", `a\;touch\ pwned`},
		{"lamplighter|stop|--fo", "--force"},
		{"lamplighter|stop|471", "4711  ($(touch pwned))\n4712  (`touch pwned`)"},
	} {
		if got := d.completes(t, dir, strings.Split(test.line, "|")...); got != test.want {
			t.Errorf("%s: got %q, want %q", test.line, got, test.want)
		}
	}
	all := d.completes(t, dir, "lamplighter", "stop", "")
	if n := strings.Count(all, "\n") + 1; n != 10 || strings.ContainsFunc(strings.ReplaceAll(all, "\n", ""), monitor.Unprintable) {
		t.Errorf("%d offers:\n%s", n, all)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("the name of a project was run")
	}
}
