package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArrange(t *testing.T) {
	shown := func(path string, m mode) place { return place{Path: path, From: path, Mode: m} }
	made := func(path string, m mode) place { return place{Path: path, From: path, Mode: m, Make: true} }
	hide := func(path string) place { return place{Path: path, Mode: hidden} }
	tmp := place{Path: "/tmp", From: "/store/tmp", Mode: writable}
	for what, test := range map[string]struct{ in, want []place }{
		"nothing":                     {nil, nil},
		"what is deeper comes later":  {[]place{shown("/a/b", readOnly), shown("/a", writable)}, []place{shown("/a", writable), shown("/a/b", readOnly)}},
		"of two the stricter counts":  {[]place{shown("/a", writable), shown("/a", readOnly), hide("/a")}, []place{shown("/a", readOnly)}},
		"what is named is shown":      {[]place{hide("/a"), shown("/a", writable)}, []place{shown("/a", writable)}},
		"shown in what is hidden":     {[]place{shown("/s/own", writable), hide("/s")}, []place{hide("/s"), made("/s/own", writable)}},
		"hidden in what is hidden":    {[]place{hide("/s/other"), hide("/s")}, []place{hide("/s")}},
		"hidden in what is shown":     {[]place{hide("/s/own/x"), hide("/s"), shown("/s/own", writable)}, []place{hide("/s"), made("/s/own", writable), hide("/s/own/x")}},
		"in another /tmp":             {[]place{tmp, shown("/tmp/own", writable), hide("/tmp/x")}, []place{tmp, made("/tmp/own", writable)}},
		"in scratch":                  {[]place{{Path: "/dev/shm", Mode: scratch}, hide("/dev/shm/x")}, []place{{Path: "/dev/shm", Mode: scratch}}},
		"beside with the same prefix": {[]place{hide("/s"), shown("/s-own", writable)}, []place{hide("/s"), shown("/s-own", writable)}},
		"all may be written":          {[]place{shown("/", writable), hide("/s")}, []place{shown("/", writable), hide("/s")}},
	} {
		if got := arrange(test.in); !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

func TestPlaces(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, name := range []string{"own", "tmp", "run"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("own", at("link")); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return at("run")
		}
		return ""
	}
	mode := func(list []place, path string) int {
		for _, p := range list {
			if p.Path == path {
				return int(p.Mode)
			}
		}
		return -1
	}
	list, err := Spec{Confine: true, Writable: []string{at("link")}}.places(getenv, nil)
	if err != nil || mode(list, at("own")) != int(writable) || mode(list, at("link")) >= 0 || mode(list, at("run")) != int(hidden) {
		t.Errorf("%+v, %v", list, err)
	}
	list, err = Spec{ReadOnly: []string{at("own")}, Writable: []string{at("tmp")}, Hidden: []string{at("run")}}.places(getenv, []string{at("tmp")})
	if err != nil || len(list) != 1 || mode(list, at("own")) != int(readOnly) {
		t.Errorf("not confined: %+v, %v", list, err)
	}
	for _, s := range []Spec{{Confine: true, Writable: []string{at("none")}}, {ReadOnly: []string{at("none")}}, {Confine: true, TempDir: at("none")}, {Confine: true, Writable: []string{"own"}}} {
		if _, err := s.places(getenv, nil); err == nil {
			t.Errorf("%+v", s)
		}
	}
}

func TestListening(t *testing.T) {
	const text = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 8451 /home/u/a dir/listens
0000000000000000: 00000003 00000000 00000000 0001 03 8452 /home/u/a dir/listens
0000000000000000: 00000002 00000000 00010000 0001 01 8453 @/tmp/.X11-unix/X0
0000000000000000: 00000002 00000000 00010000 0001 01 8454 /run/systemd/resolve/io.systemd.Resolve
0000000000000000: 00000002 00000000 00010000 0001 01 8455 /var/run/nscd/socket
0000000000000000: 00000002 00000000 00000000 0002 01 8456
0000000000000000: 00000002 00000000 00000000 0002 01 8457 relative
0000000000000000: 00000002 00000000 00010000 0001 01 8458 /run/docker.sock
`
	if got, want := listening(strings.NewReader(text)), []string{"/home/u/a dir/listens", "/run/docker.sock"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestMountsAt(t *testing.T) {
	const text = `22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw
23 22 0:21 / /home rw,nosuid,nodev,noatime - tmpfs x rw
24 22 0:21 / /home ro,noexec - tmpfs x rw
25 22 0:22 / /home/a\040b rw - tmpfs x rw
26 22 0:23 / /homes rw - tmpfs x rw
broken
`
	paths := func(list []mounted) []string {
		var paths []string
		for _, m := range list {
			paths = append(paths, m.path)
		}
		return paths
	}
	if got := mountsAt(text, "/home", true); !slices.Equal(paths(got), []string{"/home", "/home/a b"}) || got[0].flags != mountFlags["ro"]|mountFlags["noexec"] {
		t.Errorf("%+v", got)
	}
	if got := mountsAt(text, "/", true); len(got) != 4 {
		t.Errorf("%+v", got)
	}
	if got := mountsAt(text, "/", false); !slices.Equal(paths(got), []string{"/"}) || got[0].flags != mountFlags["relatime"] {
		t.Errorf("%+v", got)
	}
}
