package doctor

import (
	"os"
	"path/filepath"
	"strings"
)

// toAutostart says how to have lamplighter started at login.
const toAutostart = "To have it, put a launch agent lamplighter.plist that runs lamplighter run into ~/Library/LaunchAgents."

// gatherAutostart looks for a launch agent of the user or of all users.
//
// Source: launchd.plist(5).
func gatherAutostart(o Options, w world) []autostart {
	dirs := []string{"/Library/LaunchAgents"}
	if o.Home != "" {
		dirs = append([]string{filepath.Join(o.Home, "Library", "LaunchAgents")}, dirs...)
	}
	var list []autostart
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // none where there is no such folder
		for _, e := range entries {
			if name := strings.ToLower(e.Name()); strings.Contains(name, "lamplighter") && strings.HasSuffix(name, ".plist") {
				list = append(list, autostart{kind: "the launch agent", path: filepath.Join(dir, e.Name()), on: true})
			}
		}
	}
	return list
}
