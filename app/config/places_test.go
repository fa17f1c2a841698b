package config

import (
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	at := func(path string) string { // on Windows, of some drive
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	full := Base{ConfigHome: at("/h/.config"), StateHome: at("/h/.local/state"), RuntimeDir: at("/run/user/7"), TempDir: at("/tmp")}
	for name, test := range map[string]struct {
		flag string
		env  map[string]string
		base Base
		want Places
	}{
		"defaults": {base: full, want: Places{
			Config: at("/h/.config/lamplighter/config.yaml"), StateDir: at("/h/.local/state/lamplighter"),
			ControlSocket: at("/run/user/7/lamplighter/control.sock"), LockFallback: at("/run/user/7/lamplighter/control.sock.lock"),
			ShareSocket: at("/run/user/7/lamplighter/share.sock"),
		}},
		"the share socket by environment": {
			base: full, env: map[string]string{"LAMPLIGHTER_SOCKET": at("/x/share")},
			want: Places{
				Config: at("/h/.config/lamplighter/config.yaml"), StateDir: at("/h/.local/state/lamplighter"), ShareSocket: at("/x/share"),
				ControlSocket: at("/run/user/7/lamplighter/control.sock"), LockFallback: at("/run/user/7/lamplighter/control.sock.lock"),
			},
		},
		"environment": {
			base: full,
			env:  map[string]string{"LAMPLIGHTER_CONFIG": at("/c"), "LAMPLIGHTER_STATE_DIR": at("/s"), "LAMPLIGHTER_CONTROL_SOCKET": at("/x/y")},
			want: Places{Config: at("/c"), ConfigNamed: true, StateDir: at("/s"), ControlSocket: at("/x/y"), LockFallback: at("/x/y.lock"), ShareSocket: at("/run/user/7/lamplighter/share.sock")},
		},
		"flag before environment": {
			flag: at("/f"), base: full,
			env: map[string]string{"LAMPLIGHTER_CONFIG": at("/c"), "LAMPLIGHTER_STATE_DIR": at("/s"), "LAMPLIGHTER_CONTROL_SOCKET": at("/x/y")},
			want: Places{
				Config: at("/f"), ConfigNamed: true, StateDir: at("/s"), ControlSocket: at("/x/y"), LockFallback: at("/x/y.lock"), ShareSocket: at("/run/user/7/lamplighter/share.sock"),
			},
		},
		"no runtime directory": {base: Base{StateHome: at("/h/.local/state")}, want: Places{
			StateDir:      at("/h/.local/state/lamplighter"),
			ControlSocket: at("/h/.local/state/lamplighter/run/control.sock"),
			LockFallback:  at("/h/.local/state/lamplighter/run/control.sock.lock"),
			ShareSocket:   at("/h/.local/state/lamplighter/run/share.sock"),
		}},
		"no home, no session": {},
		"a relative socket has no lock beside it": {env: map[string]string{"LAMPLIGHTER_CONTROL_SOCKET": "@abstract"}, want: Places{
			ControlSocket: "@abstract",
		}},
		"a relative state directory": {env: map[string]string{"LAMPLIGHTER_STATE_DIR": "rel/s"}, want: Places{
			StateDir: at("rel/s"), ControlSocket: at("rel/s/run/control.sock"), LockFallback: at("rel/s/run/control.sock.lock"), ShareSocket: at("rel/s/run/share.sock"),
		}},
		"Serena's directory": {base: Base{Home: at("/h")}, want: Places{SerenaHome: at("/h/.serena")}},
		"Serena's directory, by environment": {base: Base{Home: at("/h")}, env: map[string]string{"SERENA_HOME": " " + at("/s") + " "}, want: Places{
			SerenaHome: at("/s"),
		}},
		"Serena's directory, relative": {base: Base{Home: at("/h")}, env: map[string]string{"SERENA_HOME": "s"}},
		"windows": {base: Base{StateHome: at("/l"), PipeName: "pipe", SharePipe: "share", TempDir: at("/t")}, want: Places{
			StateDir: at("/l/lamplighter"), ControlSocket: "pipe", ShareSocket: "share", LockFallback: at("/t/lamplighter.lock"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Find(test.flag, func(k string) string { return test.env[k] }, test.base)
			if got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestSystemBaseWithoutHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	t.Setenv("XDG_CONFIG_HOME", "relative")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_RUNTIME_DIR", "")
	if got := SystemBase(); got.ConfigHome != "" || got.StateHome != "" || got.RuntimeDir != "" {
		t.Errorf("without a home directory nothing has a place, got %+v", got)
	}
}
