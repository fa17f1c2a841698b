package main

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor/command"
)

func TestParseConnect(t *testing.T) {
	for _, test := range []struct {
		args string
		want connectOptions
		err  string
	}{
		{args: "-- serena", want: connectOptions{command: []string{"serena"}}},
		{args: "--socket //./pipe/s --or-direct -- a --socket -- b", want: connectOptions{socket: "//./pipe/s", orDirect: true, command: []string{"a", "--socket", "--", "b"}}},
		{args: "--socket=//./pipe/s -- a", want: connectOptions{socket: "//./pipe/s", command: []string{"a"}}},
		{
			args: "--web-dashboard-global --web-dashboard-global-port 3000 --web-dashboard-global-open-on-launch=false --idle-shutdown-minutes=5 --flag x -- a",
			want: connectOptions{flags: []string{"--web-dashboard-global", "--web-dashboard-global-port=3000", "--web-dashboard-global-open-on-launch=false", "--idle-shutdown-minutes=5", "x"}, command: []string{"a"}},
		},
		{args: "--web-dashboard-global=yes --flag=--y=z -- a", want: connectOptions{flags: []string{"--web-dashboard-global=yes", "--y=z"}, command: []string{"a"}}},
		{args: "", err: "after --"},
		{args: "--", err: "after --"},
		{args: "serena --flag", want: connectOptions{command: []string{"serena", "--flag"}}},
		{args: "--or-direct serena -- x", want: connectOptions{orDirect: true, command: []string{"serena", "--", "x"}}},
		{args: "--socket", err: "no value"},
		{args: "--socket -- a", err: "no value"},
		{args: "--socket= -- a", err: "no option"},
		{args: "--flag -- a", err: "no value"},
		{args: "--web-dashboard-global-port -- a", err: "no value"},
		{args: "--or-direct=yes -- a", err: "no option"},
		{args: "--colour red -- a", err: `no option "--colour"`},
	} {
		got, err := parseConnect(strings.Fields(test.args))
		// What it takes is a shim to those who look at the process.
		line := append([]string{"lamplighter-connect", "connect"}, strings.Fields(test.args)...)
		if err == nil && !command.IsShim("/bin/lamplighter-connect", line) {
			t.Errorf("%s: no shim", test.args)
		}
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v", test.args, err)
			}
		case err != nil:
			t.Errorf("%s: %v", test.args, err)
		case got.socket != test.want.socket || got.orDirect != test.want.orDirect || !slices.Equal(got.flags, test.want.flags) || !slices.Equal(got.command, test.want.command):
			t.Errorf("%s: %+v", test.args, got)
		}
	}
	if _, err := parseConnect([]string{"--", ""}); err == nil {
		t.Error("an empty command is one")
	}
}

func TestStatusNumber(t *testing.T) {
	for how, want := range map[string]int{"code 0": 0, "code 3": 3, "signal 15": 143, "signal 9": 137, "code 4294967295": 4294967295, "": exitCannotRun, "code x": exitCannotRun} {
		if got := statusNumber(how); got != want {
			t.Errorf("%q: %d", how, got)
		}
	}
}

func TestIsSerena(t *testing.T) {
	for command, want := range map[string]bool{
		"serena start-mcp-server":                           true,
		"/opt/bin/serena-mcp-server":                        true,
		`C:\Tools\Serena.exe`:                               true,
		"uvx --from git+https://github.com/oraios/serena x": true,
		"npx @playwright/mcp":                               false,
		"python3 /opt/notserena/server.py":                  false,
	} {
		if got := isSerena(strings.Fields(command)); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
