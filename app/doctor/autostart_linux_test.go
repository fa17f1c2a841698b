package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
}

func TestGatherAutostart(t *testing.T) {
	home := t.TempDir()
	program := filepath.Join(home, "bin", "lamplighter")
	o := Options{Home: home, Environ: []string{"PATH=" + filepath.Dir(program)}}
	told := func() string { return said(judgeAutostart(gatherAutostart(o, world{}))) }
	has := func(want string) {
		t.Helper()
		if got := told(); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	has("does not start at login")

	unit := filepath.Join(home, ".config/systemd/user/lamplighter.service")
	write(t, unit, "[Unit]\nDescription=x\n[Service]\n# ExecStart=/other\nExecStart=-\""+program+"\" run\n")
	has("switched off |  | Switch it on: systemctl --user add-wants graphical-session.target lamplighter.service\n")
	link := filepath.Join(home, ".config/systemd/user/graphical-session.target.wants/lamplighter.service")
	if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink(unit, link)); err != nil {
		t.Fatal(err)
	}
	has("broken: the systemd user unit " + unit + " starts " + program + ", which is not there")
	write(t, program, "#!/bin/sh\n")
	has("ok: the systemd user unit " + unit + " starts it")

	entry := filepath.Join(home, ".config/autostart/lamplighter.desktop")
	write(t, entry, "[Desktop Entry]\nExec=lamplighter run\n")
	has("ok: the autostart entry " + entry + " starts it")
	write(t, entry, "[Desktop Entry]\nExec=nosuch\n")
	has("starts nosuch, which is not there")
	write(t, entry, "[Desktop Entry]\nExec=lamplighter\nHidden=true\n")
	has("warn: the autostart entry " + entry + " is there, but switched off |  | Take Hidden=true and X-GNOME-Autostart-enabled=false out of it.")

	// Another place for the user's files.
	o.Environ = append(o.Environ, "XDG_CONFIG_HOME="+filepath.Join(home, "other"))
	has("does not start at login")
}

func FuzzParseKeys(f *testing.F) {
	f.Add("[Service]\nExecStart=-\"/a b\" run\n#x=y\n")
	f.Add("=\n;=\nExec = x \n")
	f.Fuzz(func(t *testing.T, text string) {
		for key, value := range parseKeys(strings.NewReader(text)) {
			if key != strings.TrimSpace(key) || key == "" || value != strings.TrimSpace(value) || strings.ContainsAny(key+value, "\n") {
				t.Errorf("%q = %q", key, value)
			}
			firstWord(value)
		}
	})
}
