//go:build !windows

package daemon

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"
)

func TestDisplays(t *testing.T) {
	for _, test := range []struct{ wayland, x, want string }{
		{"", "", "[]"},
		{"", ":1", "[[unix @/tmp/.X11-unix/X1] [unix /tmp/.X11-unix/X1]]"},
		{"", "unix:0.0", "[[unix @/tmp/.X11-unix/X0] [unix /tmp/.X11-unix/X0]]"},
		{"", "localhost:10.0", "[[tcp localhost:6010]]"},
		{"", "0", "[]"},
		{"", ":x", "[]"},
		{"wayland-0", ":0", "[[unix /run/u/wayland-0]]"},
		{"/w/s", "", "[[unix /w/s]]"},
	} {
		env := map[string]string{"WAYLAND_DISPLAY": test.wayland, "DISPLAY": test.x, "XDG_RUNTIME_DIR": "/run/u"}
		if got := fmt.Sprint(displays(func(name string) string { return env[name] })); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestADisplayAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayland-0")
	at := [][2]string{{"unix", "/nonexistent"}, {"unix", path}}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if !answers(at) {
		t.Error("one that is there")
	}
	l.Close()
	if answers(at) {
		t.Error("one that has gone")
	}
}
