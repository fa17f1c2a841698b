package setup

import (
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
	if path := process.FindProgram(dirs, program); path != "" {
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

// The directories where installers put programs: below a variable of the environment,
// the home ("~") or the root; "*" is any version. Which version of nvm's is the current
// one a shell chooses; any will do to say that a program is there.
//
// Sources: the documentation of uv (storage), pipx (installation), npm (directories),
// pnpm, Yarn, Bun, Volta, nvm, pyenv, mise, asdf, Homebrew, Scoop, WinGet. The versions
// of Python and the environments of tools are app/launch's, which starts servers.
const (
	installedEverywhere = ` $UV_TOOL_BIN_DIR $XDG_BIN_HOME $PIPX_BIN_DIR $PNPM_HOME ~/.local/bin ~/.cargo/bin ~/.bun/bin ~/.deno/bin `
	installedOnWindows  = ` $NPM_CONFIG_PREFIX $APPDATA/npm $PROGRAMFILES/nodejs $LOCALAPPDATA/Programs/nodejs $LOCALAPPDATA/Programs/uv
		$LOCALAPPDATA/pnpm $LOCALAPPDATA/Volta/bin $LOCALAPPDATA/Microsoft/WinGet/Links $LOCALAPPDATA/Programs/Python/Launcher
		$SCOOP/shims ~/scoop/shims $PROGRAMDATA/chocolatey/bin $SYSTEMROOT/System32 $SYSTEMROOT `
	installedOnUnix = ` $NPM_CONFIG_PREFIX/bin ~/.npm-global/bin ~/.volta/bin ~/.yarn/bin ~/.pyenv/shims ~/.asdf/shims
		~/.local/share/mise/shims ~/.nix-profile/bin $NVM_DIR/versions/node/*/bin ~/.nvm/versions/node/*/bin $HOMEBREW_PREFIX/bin `
	installedOnMacOS = ` /opt/homebrew/bin /opt/local/bin ~/Library/pnpm `
	installedOnLinux = ` /home/linuxbrew/.linuxbrew/bin ~/.linuxbrew/bin ~/.local/share/pnpm /snap/bin /run/current-system/sw/bin `
	ofUnix           = ` /usr/local/bin /usr/bin /bin /usr/sbin /sbin `
)

// installed are the directories where installers put programs on this system.
func (f finder) installed() []string {
	places := installedEverywhere + installedOnUnix + installedOnLinux + ofUnix
	switch f.goos {
	case "windows":
		places = installedEverywhere + installedOnWindows
	case "darwin":
		places = installedEverywhere + installedOnUnix + installedOnMacOS + ofUnix
	}
	var dirs []string
	for place := range strings.FieldsSeq(places) {
		base, rest, _ := strings.Cut(place, "/")
		switch {
		case base == "":
			base = "/"
		case base == "~":
			base = f.home
		default:
			base = f.getenv(strings.TrimPrefix(base, "$"))
		}
		if !filepath.IsAbs(base) {
			continue
		}
		found := []string{filepath.Join(base, rest)}
		if strings.Contains(rest, "*") {
			found, _ = filepath.Glob(found[0]) // what cannot be listed has none
		}
		dirs = append(dirs, found...)
	}
	return dirs
}
