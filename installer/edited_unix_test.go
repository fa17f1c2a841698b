//go:build unix

package installer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What somebody has edited is put aside, whoever would replace or remove it.
func TestEditedFilesArePutAside(t *testing.T) {
	for name, again := range map[string]func(l *lab){
		"install":   func(l *lab) { l.install(InstallOptions{}) },
		"uninstall": func(l *lab) { l.uninstall(UninstallOptions{}) },
		"no receipt": func(l *lab) {
			if err := os.Remove(l.installer().receiptPath()); err != nil {
				l.t.Fatal(err)
			}
			l.uninstall(UninstallOptions{})
		},
		"off": func(l *lab) {
			p, err := l.installer().PlanLogin(l.t.Context(), false)
			if err != nil {
				l.t.Fatal(err)
			}
			l.do(p)
		},
	} {
		for _, edit := range []bool{false, true} {
			l := newLab(t)
			l.o.OS = "linux"
			l.unpack("1")
			l.install(InstallOptions{})
			entry := filepath.Join(l.o.ConfigHome, "autostart", entryName)
			was := l.read(entry)
			if edit {
				was += "# mine\nX-Mine=true\n"
				l.write(entry, was)
			}
			again(l)
			kept := slices.DeleteFunc(l.files(), func(f string) bool { return !strings.HasSuffix(f, BackupSuffix) })
			switch {
			case !edit && len(kept) > 0, edit && len(kept) != 1:
				t.Errorf("%s: it has put aside %q", name, kept)
			case edit && l.read(entry+BackupSuffix) != was:
				t.Errorf("%s: it has put something else aside", name)
			}
		}
	}
}

// A file of that name may be of somebody else, where the state directory is.
func TestAReceiptOfSomebodyElseIsRefused(t *testing.T) {
	for _, text := range []string{`{"name": "mine"}`, `["mine"]`} {
		l := newLab(t)
		l.unpack("1")
		p := l.plan(noLogin)
		l.write(l.installer().receiptPath(), text)
		before := content(t, l.o.Home)
		_, install := l.installer().PlanInstall(t.Context(), noLogin)
		_, uninstall := l.installer().PlanUninstall(t.Context(), UninstallOptions{Purge: true})
		for _, err := range []error{install, uninstall, l.installer().Do(t.Context(), p, nil)} {
			if !errors.Is(err, ErrForeign) {
				t.Error(err)
			}
		}
		sameContent(t, text, content(t, l.o.Home), before)
	}
}
