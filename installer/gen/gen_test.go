package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/cli"
)

var day = time.Unix(1770000000, 0).UTC()

func TestWhatLiesAroundThePrograms(t *testing.T) {
	entries := []string{"lib/systemd/user/lamplighter.service", "lib/systemd/user/lamplighter.socket", "share/applications/lamplighter.desktop"}
	for kind, packaged := range map[string]bool{"deb": true, "rpm": true, "archive": false} {
		files, err := around(kind, "1.2.3", day)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(files["share/lamplighter/package"]); got != kind+"\n" {
			t.Errorf("%s: it says it is %q", kind, got)
		}
		for _, name := range entries {
			if _, there := files[name]; there != packaged {
				t.Errorf("%s: %s there: %v", kind, name, there)
			}
		}
		for _, name := range []string{
			"share/bash-completion/completions/lamplighter", "share/zsh/site-functions/_lamplighter",
			"share/fish/vendor_completions.d/lamplighter.fish", "share/man/man1/lamplighter.1", "share/man/man1/lamplighter-workspace-create.1",
		} {
			if len(files[name]) == 0 {
				t.Errorf("%s: no %s", kind, name)
			}
		}
	}
}

func TestPackagedEntriesStartThePackagedProgram(t *testing.T) {
	files, err := around("deb", "1.2.3", day)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"lib/systemd/user/lamplighter.service":   "/usr/bin/lamplighter",
		"share/applications/lamplighter.desktop": "Exec=/usr/bin/lamplighter run\n",
		"lib/systemd/user/lamplighter.socket":    "ListenStream=%t/lamplighter/share.sock\n",
	} {
		if !strings.Contains(string(files[name]), want) {
			t.Errorf("%s has no %q:\n%s", name, want, files[name])
		}
	}
}

// What packages are made of must not change with who makes them, and where.
func TestTheSameEverywhere(t *testing.T) {
	first, err := around("deb", "1.2.3", day)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(t.TempDir(), "somebody")
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "LAMPLIGHTER_CONFIG", "LAMPLIGHTER_STATE_DIR"} {
		t.Setenv(name, home)
	}
	second, err := around("deb", "1.2.3", day)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != len(second) {
		t.Errorf("%d files, then %d", len(first), len(second))
	}
	for name, data := range first {
		if !bytes.Equal(data, second[name]) {
			t.Errorf("%s differs for another user", name)
		}
		if bytes.Contains(second[name], []byte(home)) {
			t.Errorf("%s names the home of who made it", name)
		}
	}
}

// Nothing that the help says is lost on the way to the page.
func TestPagesSayWhatTheHelpSays(t *testing.T) {
	files := map[string][]byte{}
	root := cli.Command("1.2.3")
	pages(root, "1.2.3", day, files)
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		name := "share/man/man1/" + pageName(cmd) + ".1"
		text := string(files[name])
		if !strings.HasPrefix(text, ".TH ") {
			t.Fatalf("%s: %.40q", name, text)
		}
		for _, part := range []string{cmd.Short, cmd.Long, cmd.Example, cmd.UseLine()} {
			for _, word := range strings.Fields(part) {
				if !strings.Contains(text, strings.TrimPrefix(roff(word), `\&`)) { // which only the first of a line has
					t.Errorf("%s does not say %q", name, word)
				}
			}
		}
		for _, verb := range shown(cmd) {
			each(verb)
		}
	}
	each(root)
}

func TestRoff(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"plain", "plain"},
		{"--flag=1", `\-\-flag=1`},
		{`a\b`, `a\eb`},
		{".TH x\n.so /etc/passwd", `\&.TH x` + "\n" + `\&.so /etc/passwd`},
		{"'quoted'", `\(aqquoted\(aq`},
		{"~/`x`^", `\(ti/\(gax\(ga\(ha`},
		{"a\tb", "a    b"},
		{"größer…", "größer…"},
	} {
		if got := roff(test.text); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestRun(t *testing.T) {
	env := func(epoch string) func(string) string {
		return func(name string) string {
			if name == "SOURCE_DATE_EPOCH" {
				return epoch
			}
			return ""
		}
	}
	dir := t.TempDir()
	for _, test := range []struct {
		epoch string
		args  []string
	}{
		{"1770000000", nil},
		{"1770000000", []string{"--kind", "deb", "--version", "1.2.3"}},
		{"1770000000", []string{"--kind", "msi", "--version", "1.2.3", dir}},
		{"1770000000", []string{"--kind", "deb", dir}},
		{"1770000000", []string{"--kind", "deb", "--version", "1.2.3", dir, dir}},
		{"", []string{"--kind", "deb", "--version", "1.2.3", dir}},
		{"-1", []string{"--kind", "deb", "--version", "1.2.3", dir}},
		{"today", []string{"--kind", "deb", "--version", "1.2.3", dir}},
	} {
		if err := run(test.args, env(test.epoch)); err == nil {
			t.Errorf("%q, %q: no error", test.epoch, test.args)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it wrote %v, %v", left, err)
	}
	if err := run([]string{"--kind", "archive", "--version", "1.2.3", dir}, env("1770000000")); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "share", "man", "man1", "lamplighter.1"))
	if err != nil || !bytes.Contains(page, []byte(`"2026-02-02" "Lamplighter 1.2.3"`)) {
		t.Errorf("%.80q, %v", page, err)
	}
}

func TestWriteStaysInside(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"../x", "/x", "a/../../x", `a\..\x`, ""} {
		if err := write(filepath.Join(dir, "in"), map[string][]byte{name: nil}); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it wrote %v, %v", left, err)
	}
}
