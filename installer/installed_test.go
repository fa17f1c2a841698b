package installer

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPackages(t *testing.T) {
	for name, test := range map[string]struct {
		os, self, mark, word, how string
	}{
		"deb":               {"linux", "usr/bin/lamplighter", "usr/share/lamplighter/package", "deb\n", "deb"},
		"another":           {"linux", "usr/bin/lamplighter", "usr/share/lamplighter/package", "pacman", "pacman"},
		"an archive":        {"linux", "usr/bin/lamplighter", "usr/share/lamplighter/package", "archive\n", ""},
		"rubbish":           {"linux", "usr/bin/lamplighter", "usr/share/lamplighter/package", "\x1b[2J", ""},
		"no mark":           {"linux", "usr/bin/lamplighter", "usr/other", "deb", ""},
		"setup":             {"windows", "P/Lamplighter/lamplighter.exe", "P/Lamplighter/package", "setup\r\n", "setup"},
		"the one for trays": {"windows", "P/Lamplighter/lamplighter-tray.exe", "P/Lamplighter/package", "setup", "setup"},
		"a bundle":          {"darwin", "Lamplighter.app/Contents/MacOS/lamplighter", "x", "", "app"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.o.OS, l.o.Self = test.os, l.at(strings.Split(test.self, "/")...)
			l.write(l.o.Self, "program")
			l.write(filepath.Join(filepath.Dir(l.o.Self), l.installer().exe(connectName)), "connect")
			l.write(l.at(strings.Split(test.mark, "/")...), test.word)
			here, err := l.installer().Installed()
			kind := Package
			if test.how == "" {
				kind = None
			}
			if err != nil || here.Kind != kind || here.How != test.how {
				t.Errorf("%+v, %v", here, err)
			}
			if test.how == "" {
				return
			}
			if p := l.plan(noLogin); slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Path != l.installer().receiptPath() }) {
				t.Errorf("it would %v", p.Changes)
			}
			l.do(l.plan(noLogin))
			p := l.uninstall(UninstallOptions{})
			if !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.HasPrefix(n, "The programs") }) {
				t.Errorf("it does not say how to remove them: %q", p.Notes)
			}
			if l.read(l.o.Self) != "program" {
				t.Error("the program was changed")
			}
			if files := l.files(); len(files) > 0 {
				t.Errorf("it has left %q", files)
			}
		})
	}
}

func TestPackageBesideOneByHand(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	was := *l.receipt()
	l.o.OS, l.o.Self = "linux", l.at("usr", "bin", "lamplighter")
	l.write(l.o.Self, "of a package")
	l.write(l.at("usr", "bin", connectName), "connect")
	l.write(l.at("usr", "share", "lamplighter", "package"), "deb")
	p := l.plan(noLogin)
	if len(p.Changes) > 0 || len(p.Notes) == 0 || !strings.Contains(p.Notes[0], was.Program) {
		t.Errorf("%v, %q", p.Changes, p.Notes)
	}
	l.do(p)
	if !l.receipt().same(&was) {
		t.Errorf("the receipt is %+v, not %+v", *l.receipt(), was)
	}
}

func (l *lab) receipt() *Receipt {
	l.t.Helper()
	r, err := l.installer().readReceipt()
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}
