package launch

import (
	"slices"
	"testing"
)

func TestEnvironment(t *testing.T) {
	for _, test := range []struct {
		name  string
		goos  string
		ours  []string
		login string
		extra []string
		want  []string
	}{
		{
			name: "what speaks of this process is dropped, what speaks of the user stays", goos: "linux",
			ours: []string{
				"PATH=/usr/bin", "HOME=/h", "LANG=C.UTF-8", "DISPLAY=:0", "SSH_AUTH_SOCK=/s", "HTTPS_PROXY=http://p", "SERENA_HOME=/h/.serena", "PYTHONPATH=/mine",
				"LAMPLIGHTER_SOCKET=/x", "NOTIFY_SOCKET=/n", "LISTEN_FDS=1", "LISTEN_PID=2", "INVOCATION_ID=3", "JOURNAL_STREAM=8:9", "WATCHDOG_USEC=1",
				"DESKTOP_STARTUP_ID=x", "XDG_ACTIVATION_TOKEN=y", "VIRTUAL_ENV=/v", "VIRTUAL_ENV_PROMPT=v", "CONDA_PREFIX=/c", "CONDA_PREFIX_1=/c", "PYTHONHOME=/p",
				"PYENV_VERSION=3.9", "PWD=/p", "SHLVL=2", "npm_config_x=1", "=weird", "noequals",
			},
			want: []string{"DISPLAY=:0", "HOME=/h", "HTTPS_PROXY=http://p", "LANG=C.UTF-8", "PATH=/usr/bin:/usr/local/bin:/bin", "PYTHONPATH=/mine", "SERENA_HOME=/h/.serena", "SSH_AUTH_SOCK=/s"},
		},
		{
			name: "PATH goes on with the login shell's", goos: "linux",
			ours: []string{"PATH=/usr/bin::.:bin:/bin/"}, login: "/opt/bin:/usr/bin:~/x:/home/u/go/bin",
			want: []string{"PATH=/usr/bin:/bin:/opt/bin:/home/u/go/bin:/usr/local/bin"},
		},
		{name: "no PATH at all", goos: "linux", want: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}},
		{
			name: "extra wins", goos: "linux", ours: []string{"PATH=/usr/bin", "A=1", "B=2"}, extra: []string{"A=3", "LAMPLIGHTER_LAUNCH=id", "PATH=/only"},
			want: []string{"A=3", "B=2", "LAMPLIGHTER_LAUNCH=id", "PATH=/only"},
		},
		{
			name: "an AppImage's libraries are its own", goos: "linux",
			ours: []string{
				"APPDIR=/tmp/.mount_x", "APPIMAGE=/h/x.AppImage", "PATH=/tmp/.mount_x/usr/bin:/usr/bin", "LD_LIBRARY_PATH=/tmp/.mount_x/usr/lib:/opt/lib",
				"LD_PRELOAD=/tmp/.mount_x/hook.so", "PYTHONHOME=/tmp/.mount_x/usr", "PYTHONPATH=/tmp/.mount_x/lib",
			},
			want: []string{"LD_LIBRARY_PATH=/opt/lib", "PATH=/usr/bin:/usr/local/bin:/bin"},
		},
		{
			name: "libraries of the user stay", goos: "linux", ours: []string{"PATH=/usr/bin", "LD_LIBRARY_PATH=/opt/lib", "LD_PRELOAD=/opt/x.so"},
			want: []string{"LD_LIBRARY_PATH=/opt/lib", "LD_PRELOAD=/opt/x.so", "PATH=/usr/bin:/usr/local/bin:/bin"},
		},
		{
			name: "Windows", goos: "windows",
			ours:  []string{`Path=C:\Windows;"C:\Program Files\X";rel`, `SystemRoot=C:\Windows`, `Virtual_Env=C:\v`, `=C:=C:\work`, "lamplighter_config=x"},
			login: `c:\windows;D:\tools\`,
			want:  []string{`PATH=C:\Windows;C:\Program Files\X;D:\tools;C:\Windows\System32`, `SYSTEMROOT=C:\Windows`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := environment(test.goos, test.ours, test.login, test.extra); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
