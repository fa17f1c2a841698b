package installer

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestMountBelow(t *testing.T) {
	const table = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 8:1 /data /home/ann/st/keys/a\040b rw,relatime shared:1 - ext4 /dev/sda1 rw
short
` + "31 22 8:1 / /home/bob/no-break\u00a0space/\v\f\u0085\u2003b rw - ext4 /dev/sda1 rw\n"
	for path, want := range map[string]string{
		"/home/ann/st": "/home/ann/st/keys/a b", "/home/ann/st/keys/a b": "/home/ann/st/keys/a b",
		"/home/ann/s": "", "/home/ann/st/keys/a b/c": "", "/home/ann/st/servers": "",
		"/home/bob/no-break\u00a0space": "/home/bob/no-break\u00a0space/\v\f\u0085\u2003b",
	} {
		if got, ok := mountBelow(table, path); got != want || ok != (want != "") {
			t.Errorf("below %s it finds %q", path, got)
		}
	}
}

// What is mounted in the state directory lies elsewhere, too.
func TestUninstallRefusesWhatIsMounted(t *testing.T) {
	for _, late := range []bool{false, true} {
		for name, refused := range map[string]bool{"keys": true, "servers/far": true, "workspaces/data": false} {
			l := newLab(t)
			l.unpack("1")
			l.install(noLogin)
			l.writeState()
			at := filepath.Join(l.o.StateDir, filepath.FromSlash(name))
			l.write(filepath.Join(at, "mine"), "mine")
			l.write(filepath.Join(l.o.StateDir, filepath.FromSlash(workspaceRecord)), "{}")
			before := content(t, l.o.Home)
			i := l.installer()
			table := "30 22 8:1 /data " + strings.ReplaceAll(filepath.ToSlash(at), " ", `\040`) + " rw - ext4 /dev/sda1 rw\n"
			i.mounts = func() string { return table }
			if late {
				i.mounts = func() string { return "" }
			}
			p, err := i.PlanUninstall(t.Context(), UninstallOptions{})
			if late {
				i.mounts = func() string { return table }
				err = i.Do(t.Context(), p, nil)
			}
			if got := err != nil && strings.Contains(err.Error(), filepath.Base(at)); got != refused {
				t.Errorf("%s (late: %v): %v", name, late, err)
			}
			if refused {
				sameContent(t, name, content(t, l.o.Home), before)
			}
		}
	}
}
