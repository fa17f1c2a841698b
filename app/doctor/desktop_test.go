package doctor

import (
	"strings"
	"testing"
)

func TestJudgeDesktop(t *testing.T) {
	well := desktopFacts{display: true, name: "XFCE", watcher: true, watcherIs: "xfce4-panel", host: true, notifier: true, notifierIs: "Xfce Notify Daemon 0.8"}
	for name, test := range map[string]struct {
		change func(*desktopFacts)
		mark   Mark
		want   string
	}{
		"well":            {func(*desktopFacts) {}, OK, "place for tray icons (xfce4-panel)"},
		"system's own":    {func(f *desktopFacts) { *f = desktopFacts{own: true} }, OK, "the system has a place"},
		"mute":            {func(f *desktopFacts) { f.mute, f.bus = true, "timeout" }, Broken, "does not answer"},
		"headless":        {func(f *desktopFacts) { *f = desktopFacts{bus: "not set"} }, Warn, "no desktop session here"},
		"no bus":          {func(f *desktopFacts) { f.bus = "connection refused" }, Warn, "no session bus: connection refused"},
		"GNOME":           {func(f *desktopFacts) { f.watcher, f.name = false, "ubuntu:GNOME" }, Warn, "AppIndicator"},
		"Xfce":            {func(f *desktopFacts) { f.watcher = false }, Warn, "Status Tray Plugin"},
		"KDE":             {func(f *desktopFacts) { f.watcher, f.name = false, "KDE" }, Warn, "System Tray"},
		"sway":            {func(f *desktopFacts) { f.watcher, f.name = false, "sway" }, Warn, "waybar"},
		"another":         {func(f *desktopFacts) { f.watcher, f.name = false, "" }, Warn, "on GNOME install the AppIndicator"},
		"no panel":        {func(f *desktopFacts) { f.host = false }, Warn, "no panel shows them (xfce4-panel)"},
		"hidden":          {func(f *desktopFacts) { f.hidden, f.watcher = true, false }, OK, "the settings hide the tray icon"},
		"no notifier":     {func(f *desktopFacts) { f.notifier = false }, Warn, "nobody shows notifications"},
		"silent notifier": {func(f *desktopFacts) { f.notifierIs = "" }, OK, "notifications are shown"},
	} {
		f := well
		test.change(&f)
		lines := judgeDesktop(f)
		if got := worst(lines); got != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: %s, want %s with %q:\n%s", name, got, test.mark, test.want, said(lines))
		}
	}
}
