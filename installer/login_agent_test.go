//go:build !windows

package installer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// aMac is start at login of macOS in a temporary directory.
func aMac(t *testing.T) (machine, launchAgents) {
	m := newMachine(t)
	return m, launchAgents{own: m.at("home/Library/LaunchAgents"), dirs: []string{m.at("home/Library/LaunchAgents"), m.at("Library/LaunchAgents")}, socket: "/run/share.sock", uid: 501}
}

const agentFile = "home/Library/LaunchAgents/lamplighter.plist"

func TestAgentOnAndOff(t *testing.T) {
	m, l := aMac(t)
	on := must(t)(l.on(Programs{Main: program}, InstallOptions{}))
	m.carryOut(on)
	if got := commands(on); got != "launchctl enable gui/501/lamplighter; launchctl bootstrap gui/501 "+m.at(agentFile) {
		t.Error(got)
	}
	if list, _ := l.entries(); len(list) != 1 || !list[0].On || !list[0].Ours || list[0].Program != program || list[0].Path != m.at(agentFile) {
		t.Errorf("%+v", list)
	}
	if again := must(t)(l.on(Programs{Main: program}, InstallOptions{})); len(again.Changes) > 0 {
		t.Errorf("again: %v", again.Changes)
	}
	// launchd keeps the old one until it is told.
	other := must(t)(l.on(Programs{Main: "/other"}, InstallOptions{}))
	if got := commands(other); !strings.HasPrefix(got, "launchctl bootout gui/501/lamplighter; ") {
		t.Error(got)
	}
	// A switch must neither end the running one nor take its socket over.
	l.resident(&other)
	if got := commands(other); got != "launchctl enable gui/501/lamplighter" {
		t.Error(got)
	}
	off := must(t)(l.off())
	m.carryOut(off)
	if got := m.files(); len(got) > 0 || commands(off) != "launchctl bootout gui/501/lamplighter" {
		t.Errorf("%q, %s", got, commands(off))
	}
	if l.resident(&off); commands(off) != "" {
		t.Error(commands(off))
	}
	l.socket = "/" + strings.Repeat("x", longestSocket)
	long := must(t)(l.on(Programs{Main: program}, InstallOptions{}))
	if len(long.Notes) != 1 || strings.Contains(string(long.Changes[0].Content), "Sock") {
		t.Errorf("%q\n%s", long.Notes, long.Changes[0].Content)
	}
}

func TestForeignAgents(t *testing.T) {
	foreign := "<plist><dict><key>Label</key><string>x</string><key>ProgramArguments</key><array><string>/mine/lamplighter</string></array></dict></plist>"
	for name, test := range map[string]struct {
		path, text string
		on         bool
		onErr      string
		offErr     string
	}{
		"of the user":  {agentFile, foreign, true, "in the way", "starts it"},
		"of another":   {"home/Library/LaunchAgents/org.Lamplighter.other.plist", foreign, true, "", "starts it"},
		"for all":      {"Library/LaunchAgents/lamplighter.plist", foreign, true, "", "starts it"},
		"disabled":     {"Library/LaunchAgents/lamplighter.plist", strings.Replace(foreign, "</dict>", "<key>Disabled</key><true/></dict>", 1), false, "", ""},
		"binary":       {agentFile, "bplist00", false, "in the way", ""},
		"garbage":      {agentFile, "<<<", false, "in the way", ""},
		"none of ours": {"home/Library/LaunchAgents/other.plist", foreign, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, l := aMac(t)
			m.write(test.path, test.text)
			list, _ := l.entries()
			if got := slices.ContainsFunc(list, func(e LoginEntry) bool { return e.On }); got != test.on {
				t.Errorf("%+v", list)
			}
			says := func(what string, err error, want string) {
				t.Helper()
				if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, ErrForeign)) {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := l.on(Programs{Main: program}, InstallOptions{})
			says("on", err, test.onErr)
			p := must(t)(l.off())
			says("off", l.silence(&p), test.offErr)
			m.carryOut(must(t)(l.off()))
			if text, err := os.ReadFile(m.at(test.path)); err != nil || string(text) != test.text {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
	m, l := aMac(t)
	m.link(agentFile, "/dev/null")
	if list, _ := l.entries(); len(list) != 1 || list[0].On || list[0].Err == nil || list[0].Ours {
		t.Errorf("%+v", list)
	}
}

func TestLaunchd(t *testing.T) {
	l := New(Options{OS: "darwin", Home: "/Users/me", StateDir: "/Users/me/state"}).launchd()
	if l.own != "/Users/me/Library/LaunchAgents" || l.socket != "/Users/me/state/run/share.sock" || !slices.Contains(l.dirs, "/Library/LaunchAgents") {
		t.Errorf("%+v", l)
	}
	l = New(Options{OS: "darwin"}).launchd()
	if _, err := l.on(Programs{Main: program}, InstallOptions{}); !errors.Is(err, ErrNoHome) {
		t.Error(err)
	}
	if p, err := l.off(); err != nil || len(p.Changes) > 0 {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := (launchAgents{own: filepath.Dir(program)}).on(Programs{Main: program}, InstallOptions{Headless: true}); err == nil {
		t.Error("headless")
	}
}
