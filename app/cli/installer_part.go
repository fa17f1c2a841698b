package cli

import (
	"path/filepath"
	"runtime"

	"lamplighter/icons"
	"lamplighter/installer"
)

// installer is the one for this user and the program that runs.
func (p *program) installer() *installer.Installer {
	return installer.New(p.installation(runtime.GOOS))
}

// installation says whose installation it is, on a system of that name.
func (p *program) installation(system string) installer.Options {
	places := p.places()
	o := installer.Options{
		OS:         system,
		Home:       p.base.Home,
		ConfigHome: p.base.ConfigHome,
		StateDir:   places.StateDir,
		Self:       p.self,
		Version:    p.version,
		Icon:       icons.Application(),
		Getenv:     p.getenv,
		Command:    p.command,
	}
	// Settings that the user keeps elsewhere are in a folder of the user's.
	o.ConfigDir = inFolder(p.base.ConfigHome, "lamplighter")
	if places.ConfigNamed {
		o.Settings = places.Config
	}
	o.DataHome = p.dataHome(system)
	if p.base.PipeName == "" {
		o.RuntimeDir = inFolder(p.base.RuntimeDir, "lamplighter")
	}
	if system == "windows" {
		local := p.getenv("LOCALAPPDATA")
		if !filepath.IsAbs(local) {
			local = inFolder(p.base.Home, "AppData", "Local")
		}
		o.LocalApps = inFolder(local, "Programs")
	}
	return o
}

// dataHome is XDG_DATA_HOME, or what stands for it.
//
// Source: XDG Base Directory Specification, "Environment variables".
func (p *program) dataHome(system string) string {
	if named := p.getenv("XDG_DATA_HOME"); filepath.IsAbs(named) {
		return named
	}
	switch system {
	case "windows":
		return inFolder(p.base.Home, "AppData", "Local")
	case "darwin":
		return inFolder(p.base.Home, "Library", "Application Support")
	}
	return inFolder(p.base.Home, ".local", "share")
}

// inFolder is a path below a directory, "" where there is no directory.
func inFolder(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}
