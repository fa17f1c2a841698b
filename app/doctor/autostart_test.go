package doctor

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestJudgeAutostart(t *testing.T) {
	unit := autostart{kind: "the systemd user unit", path: "/u", on: true, program: "/b/lamplighter"}
	change := func(f func(*autostart)) []autostart { a := unit; f(&a); return []autostart{a} }
	for name, test := range map[string]struct {
		list []autostart
		mark Mark
		want string
	}{
		"none":         {nil, Warn, "That is no fault: it runs when you start it. | " + toAutostart},
		"there":        {[]autostart{unit}, OK, "the systemd user unit /u starts it"},
		"both":         {[]autostart{unit, unit}, OK, "starts it"},
		"switched off": {change(func(a *autostart) { a.on = false }), Warn, "switched off"},
		"gone":         {change(func(a *autostart) { a.missing = fs.ErrNotExist }), Broken, "starts /b/lamplighter, which is not there | Lamplighter does not start at login. | Correct the path in it, or delete it."},
		"not to run":   {change(func(a *autostart) { a.missing = fs.ErrPermission }), Broken, "which cannot be run"},
		"unreadable":   {change(func(a *autostart) { a.err = &fs.PathError{Err: syscall.EACCES} }), Warn, "cannot be read"},
	} {
		lines := judgeAutostart(test.list)
		if worst(lines) != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: want %s with %q:\n%s", name, test.mark, test.want, said(lines))
		}
		// Nobody is sent to a command that there is not.
		if strings.Contains(said(lines), "install") {
			t.Errorf("%s:\n%s", name, said(lines))
		}
	}
}

func TestFirstWord(t *testing.T) {
	for line, want := range map[string]string{
		`"C:\Program Files\l.exe" run`: `C:\Program Files\l.exe`, `/b/lamplighter run`: "/b/lamplighter", "": "", `C:\Program Files\L.EXE run`: `C:\Program Files\L.EXE`, `"/a b"`: "/a b",
	} {
		if got := firstWord(line); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}
