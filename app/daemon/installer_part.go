package daemon

import (
	"path/filepath"
	"runtime"

	"lamplighter/icons"
	"lamplighter/installer"
)

// Installer is the one for this user and the program that runs.
func (p *Program) Installer() *installer.Installer {
	return installer.New(p.Installation(runtime.GOOS))
}

// Installation says whose installation it is, on a system of that name.
func (p *Program) Installation(system string) installer.Options {
	places := p.Places()
	o := installer.Options{
		OS:         system,
		Home:       p.Base.Home,
		ConfigHome: p.Base.ConfigHome,
		StateDir:   places.StateDir,
		Self:       p.Self,
		Version:    p.Version,
		Icon:       icons.Application(),
		Getenv:     p.Getenv,
		Command:    p.Command,
	}
	// Settings that the user keeps elsewhere are in a directory of the user's.
	o.ConfigDir = InDir(p.Base.ConfigHome, "lamplighter")
	if places.ConfigNamed {
		o.Settings = places.Config
	}
	o.DataHome = p.dataHome(system)
	if p.Base.PipeName == "" {
		o.RuntimeDir = InDir(p.Base.RuntimeDir, "lamplighter")
	}
	if system == "windows" {
		local := p.Getenv("LOCALAPPDATA")
		if !filepath.IsAbs(local) {
			local = InDir(p.Base.Home, "AppData", "Local")
		}
		o.LocalApps = InDir(local, "Programs")
	}
	return o
}

// dataHome is XDG_DATA_HOME, or what stands for it.
//
// Source: XDG Base Directory Specification, "Environment variables".
func (p *Program) dataHome(system string) string {
	if named := p.Getenv("XDG_DATA_HOME"); filepath.IsAbs(named) {
		return named
	}
	switch system {
	case "windows":
		return InDir(p.Base.Home, "AppData", "Local")
	case "darwin":
		return InDir(p.Base.Home, "Library", "Application Support")
	}
	return InDir(p.Base.Home, ".local", "share")
}

// InDir is a path below a directory, "" where there is no directory.
func InDir(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}
