package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/api"
	"lamplighter/installer"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestJudgeProgram(t *testing.T) {
	runs := background{health: api.Health{PID: 7, Version: "1.2.3"}}
	none := background{err: fmt.Errorf("dial: %w", fs.ErrNotExist)}
	stray := process.Info{Identity: monitor.Identity{PID: 8}}
	well := programFacts{version: "1.2.3", self: "/b/lamplighter", connect: "/b/lamplighter-connect", background: runs, home: true, socket: "/run/s", installed: installedFacts{command: "lamplighter"}}
	for name, test := range map[string]struct {
		change func(*programFacts)
		mark   Mark
		want   string
	}{
		"well":          {func(*programFacts) {}, OK, "runs (pid 7), the same version"},
		"unknown place": {func(f *programFacts) { f.self, f.connect = "", "" }, Warn, "does not tell where it lies"},
		"two": {func(f *programFacts) {
			f.copies = copies{{path: "/b/lamplighter", self: true}, {path: "/usr/bin/lamplighter"}}
		}, Warn, "there are 2 lamplighters: /b/lamplighter (version not known): this command; /usr/bin/lamplighter (version not known)"},
		"interrupted": {func(f *programFacts) { f.installed.Unfinished = true }, Broken, "an installation was interrupted"},
		"no connect":  {func(f *programFacts) { f.connectIs = fs.ErrNotExist }, Broken, "there is no /b/lamplighter-connect"},
		"connect's mode": {func(f *programFacts) { f.connectIs = &fs.PathError{Op: "stat", Path: "x", Err: syscall.EACCES} }, Broken,
			"cannot be run: /b/lamplighter-connect: " + syscall.EACCES.Error()},
		"other build":              {func(f *programFacts) { f.builds = [2]string{"a", "b"} }, Warn, "of another build"},
		"unknown build":            {func(f *programFacts) { f.builds = [2]string{"a", ""} }, OK, "lies beside it"},
		"no home":                  {func(f *programFacts) { f.home = false }, Broken, "no home directory"},
		"other version":            {func(f *programFacts) { f.background.health.Version = "1.0.0" }, Warn, "is lamplighter 1.0.0, not 1.2.3"},
		"other version, installed": {func(f *programFacts) { f.background.health.Version, f.installed.Kind = "1.0.0", installer.ByHand }, Warn, "Have this one run in its place: lamplighter install"},
		"other version, built":     {func(f *programFacts) { f.background.health.Version, f.installed.Kind = "1.0.0", installer.None }, Warn, "then start this one: lamplighter run"},
		"replaced":                 {func(f *programFacts) { f.background.exe = "/b/lamplighter (deleted)" }, Warn, "was replaced since"},
		"does not run":             {func(f *programFacts) { f.background = none }, Warn, "lamplighter run"},
		"refused":                  {func(f *programFacts) { f.background = background{err: syscall.ECONNREFUSED} }, Warn, "does not run"},
		"hangs":                    {func(f *programFacts) { f.background = background{err: errors.New("nothing answers")} }, Broken, "nothing answers"},
		"stray":                    {func(f *programFacts) { f.background = none; f.background.silent = []process.Info{stray} }, Broken, "runs (pid 8), but does not answer on /run/s"},
		"a second":                 {func(f *programFacts) { f.background.silent = []process.Info{stray} }, Warn, "a second lamplighter runs (pid 8)"},
		"without socket":           {func(f *programFacts) { f.background, f.socket = background{err: errors.New("no place")}, "" }, Warn, "does not run"},
	} {
		f := well
		test.change(&f)
		lines := judgeProgram(f)
		if got := worst(lines); got != test.mark {
			t.Errorf("%s: %s, want %s:\n%s", name, got, test.mark, said(lines))
		}
		if !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: %q is not in\n%s", name, test.want, said(lines))
		}
	}
}

func TestRevisionIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	for text, want := range map[string]string{
		"": "",
		"\x00x\nbuild\tvcs=git\nbuild\tvcs.revision=0123456789abcdef\nbuild\tvcs.time=x\n\x00": "0123456789abcdef",
		"build\tvcs.revision=":                                   "",
		"build\tvcs.revision=0123456789":                         "",
		"build\tvcs.revision=" + strings.Repeat("x", 200) + "\n": "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := revisionIn(path); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := revisionIn(path + "x"); got != "" {
		t.Errorf("a file that is not there: %q", got)
	}
}
