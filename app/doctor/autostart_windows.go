package doctor

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/windows/registry"
)

// runKey is where Windows looks for what it starts at login.
const runKey = `Software\Microsoft\Windows\CurrentVersion\Run`

// toAutostart says how to have lamplighter started at login.
const toAutostart = `To have it, add a value Lamplighter that runs lamplighter run to HKCU\` + runKey + "."

// gatherAutostart looks into the registry of Windows.
//
// Source: "Run and RunOnce Registry Keys" of the Windows documentation.
func gatherAutostart(Options, world) []autostart {
	var list []autostart
	for _, place := range []struct {
		key  registry.Key
		name string
	}{{registry.CURRENT_USER, `HKCU\`}, {registry.LOCAL_MACHINE, `HKLM\`}} {
		key, err := registry.OpenKey(place.key, runKey, registry.QUERY_VALUE)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		a := autostart{kind: "the entry", path: place.name + runKey, on: true}
		if err != nil {
			a.err = err
			list = append(list, a)
			continue
		}
		names, err := key.ReadValueNames(0)
		if err != nil {
			names = nil // an entry that cannot be read starts nothing
		}
		for _, name := range names {
			if !strings.Contains(strings.ToLower(name), "lamplighter") {
				continue
			}
			value, _, err := key.GetStringValue(name)
			one := a
			if one.err = err; err == nil {
				one.program = firstWord(value)
				one.missing = runnable(one.program)
			}
			one.path += `\` + name
			list = append(list, one)
		}
		_ = key.Close() // nothing was written
	}
	return list
}
