package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor/process"
)

// finder finds programs as clients would, who may have another PATH than we
// have: it looks where installers put them as well.
type finder struct {
	goos   string
	home   string
	getenv func(string) string
}

// lookPath is the default of Options.LookPath. The error Is exec.ErrNotFound.
func (f finder) lookPath(program string) (string, error) {
	dirs := f.dirs()
	if strings.ContainsRune(program, '/') || strings.ContainsRune(program, filepath.Separator) {
		dirs = []string{filepath.Dir(program)}
		if !filepath.IsAbs(program) {
			dirs = nil
		}
		program = filepath.Base(program)
	}
	if path := process.FindProgram(f.goos, dirs, program); path != "" {
		return path, nil
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}

// dirs are those of the PATH, then those of installers. Those that depend on
// where a client is started are left out.
func (f finder) dirs() []string {
	var dirs []string
	for _, dir := range slices.Concat(filepath.SplitList(f.getenv("PATH")), f.installed()) {
		if filepath.IsAbs(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// installed are the directories where installers put programs. Sources: the
// documentation of uv (storage), pipx (installation), npm (directories), pnpm, Yarn,
// Bun, Volta, nvm, pyenv, mise, asdf, Homebrew, Scoop, WinGet. The versions of
// Python and the environments of tools are app/launch's, which starts servers.
func (f finder) installed() []string {
	var dirs []string
	below := func(base string, rest ...string) {
		if filepath.IsAbs(base) {
			dirs = append(dirs, filepath.Join(append([]string{base}, rest...)...))
		}
	}
	for _, name := range []string{"UV_TOOL_BIN_DIR", "XDG_BIN_HOME", "PIPX_BIN_DIR", "PNPM_HOME"} {
		below(f.getenv(name))
	}
	below(f.home, ".local", "bin")
	below(f.home, ".cargo", "bin")
	below(f.home, ".bun", "bin")
	below(f.home, ".deno", "bin")
	if f.goos == "windows" {
		local, roaming := f.getenv("LOCALAPPDATA"), f.getenv("APPDATA")
		below(f.getenv("NPM_CONFIG_PREFIX"))
		below(roaming, "npm")
		below(f.getenv("PROGRAMFILES"), "nodejs")
		below(local, "Programs", "nodejs")
		below(local, "Programs", "uv")
		below(local, "pnpm")
		below(local, "Volta", "bin")
		below(local, "Microsoft", "WinGet", "Links")
		below(local, "Programs", "Python", "Launcher")
		if scoop := f.getenv("SCOOP"); scoop != "" {
			below(scoop, "shims")
		}
		below(f.home, "scoop", "shims")
		below(f.getenv("PROGRAMDATA"), "chocolatey", "bin")
		below(f.getenv("SYSTEMROOT"), "System32")
		below(f.getenv("SYSTEMROOT"))
		return dirs
	}
	below(f.getenv("NPM_CONFIG_PREFIX"), "bin")
	below(f.home, ".npm-global", "bin")
	below(f.home, ".volta", "bin")
	below(f.home, ".yarn", "bin")
	below(f.home, ".pyenv", "shims")
	below(f.home, ".asdf", "shims")
	below(f.home, ".local", "share", "mise", "shims")
	below(f.home, ".nix-profile", "bin")
	// The current version of nvm is chosen by a shell; any will do to say that a
	// program is there.
	nvm := f.getenv("NVM_DIR")
	if nvm == "" {
		nvm = filepath.Join(f.home, ".nvm")
	}
	if versions, err := os.ReadDir(filepath.Join(nvm, "versions", "node")); err == nil {
		for _, v := range versions {
			below(nvm, "versions", "node", v.Name(), "bin")
		}
	}
	below(f.getenv("HOMEBREW_PREFIX"), "bin")
	if f.goos == "darwin" {
		below("/opt/homebrew/bin")
		below("/opt/local/bin")
		below(f.home, "Library", "pnpm")
	} else {
		below("/home/linuxbrew/.linuxbrew/bin")
		below(f.home, ".linuxbrew", "bin")
		below(f.home, ".local", "share", "pnpm")
		below("/snap/bin")
		below("/run/current-system/sw/bin")
	}
	for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"} {
		below(dir)
	}
	return dirs
}
