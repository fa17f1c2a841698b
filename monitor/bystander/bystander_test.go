package bystander

import (
	"testing"

	"lamplighter/monitor"
)

func TestIs(t *testing.T) {
	for _, c := range []struct {
		kind, exe, name string
		want            bool
	}{
		{monitor.KindSerena, "/usr/lib/firefox/firefox", "GeckoMain", true},
		{monitor.KindSerena, "/opt/google/chrome/chrome", "", true},
		{monitor.KindSerena, "/usr/lib/chromium/chromium", "", true},
		{monitor.KindSerena, "/usr/lib/libreoffice/program/soffice.bin", "", true},
		{monitor.KindSerena, `C:\Program Files\Mozilla Firefox\firefox.exe`, "", true},
		{monitor.KindSerena, "/usr/lib/firefox/firefox (deleted)", "", true},
		{monitor.KindSerena, "/usr/bin/dash", "xdg-open", true},
		{monitor.KindSerena, "", "firefox", true},
		{"Playwright", "/home/u/.cache/ms-playwright/chromium-1200/chrome-linux/chrome", "chrome", false},
		{"Playwright", "/usr/share/code/code", "", true},
		{"", "/usr/lib/firefox/firefox", "", false},
		{"filesystem", "/usr/bin/konsole", "", true},
		{"filesystem", "/usr/bin/python3.13", "terminator", true},
		{"filesystem", "/usr/libexec/gnome-terminal-server", "gnome-terminal-", true},
		{monitor.KindSerena, "/home/u/go/bin/gopls", "gopls", false},
		{monitor.KindSerena, "/usr/bin/python3.13", "python3", false},
		{monitor.KindSerena, "/usr/bin/node", "MainThread", false},
		{monitor.KindSerena, "/usr/bin/codespell", "codespell", false},
		{monitor.KindSerena, "", "", false},
	} {
		if got := Is(c.exe, c.name, Browses(c.kind)); got != c.want {
			t.Errorf("%q, %q below %s: %v", c.exe, c.name, c.kind, got)
		}
	}
}
