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
	// Settings that the user keeps elsewhere are in a directory of the user's.
	o.ConfigDir = inDir(p.base.ConfigHome, "lamplighter")
	if places.ConfigNamed {
		o.Settings = places.Config
	}
	o.DataHome = p.dataHome(system)
	if p.base.PipeName == "" {
		o.RuntimeDir = inDir(p.base.RuntimeDir, "lamplighter")
	}
	if system == "windows" {
		local := p.getenv("LOCALAPPDATA")
		if !filepath.IsAbs(local) {
			local = inDir(p.base.Home, "AppData", "Local")
		}
		o.LocalApps = inDir(local, "Programs")
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
		return inDir(p.base.Home, "AppData", "Local")
	case "darwin":
		return inDir(p.base.Home, "Library", "Application Support")
	}
	return inDir(p.base.Home, ".local", "share")
}

// inDir is a path below a directory, "" where there is no directory.
func inDir(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}
