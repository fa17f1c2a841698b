package rules

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// guardedPrograms are programs that people and desktops work in. No rule may
// take them for a server, because a server can be ended. They are listed as
// monitor.ProgramName gives them.
var guardedPrograms = []string{
	// editors
	"code", "code-insiders", "code-oss", "code-tunnel", "codium", "vscodium", "cursor", "windsurf", "zed", "zed-editor", "zeditor", "trae", "kiro",
	"antigravity", "positron", "vi", "vim", "gvim", "mvim", "nvim", "nvim-qt", "neovide", "ex", "nano", "micro", "hx", "helix", "kak", "kate", "kwrite",
	"gedit", "geany", "mousepad", "xed", "pluma", "subl", "sublime_text", "plugin_host", "atom", "lapce", "eclipse", "netbeans", "idea", "idea64", "pycharm",
	"pycharm64", "webstorm", "webstorm64", "goland", "goland64", "clion", "clion64", "rider", "rider64", "rubymine", "phpstorm", "datagrip", "fleet",
	"studio", "studio64", "xcode", "bbedit", "textedit", "notepad", "notepad++", "devenv", "rstudio", "obsidian",
	// shells and terminals that are not among notServers
	"nu", "nushell", "tcsh", "csh", "elvish", "xonsh", "mksh", "rbash", "login", "su", "sshd", "mosh-server", "zellij", "byobu", "xterm", "uxterm",
	"urxvt", "rxvt", "st", "foot", "footclient", "kitty", "kitten", "alacritty", "wezterm", "wezterm-gui", "wezterm-mux-server", "ghostty", "konsole",
	"yakuake", "tilix", "terminator", "terminology", "guake", "tilda", "lxterminal", "qterminal", "ptyxis", "kgx", "warp", "warp-terminal", "hyper",
	"tabby", "iterm2", "terminal", "windowsterminal", "openconsole", "conhost", "mintty",
	// browsers and other programs on a desk
	"brave", "brave-browser", "msedge", "opera", "vivaldi", "vivaldi-bin", "safari", "librewolf", "waterfox", "epiphany", "falkon", "midori", "arc",
	"thorium", "webkitwebprocess", "webkitnetworkprocess", "qtwebengineprocess", "thunderbird", "thunderbird-bin", "slack", "discord", "spotify", "steam",
	"steamwebhelper", "zoom", "teams", "signal-desktop", "telegram-desktop", "soffice", "soffice.bin", "libreoffice", "winword", "excel", "outlook", "gimp",
	"inkscape", "blender", "vlc", "mpv", "nautilus", "dolphin", "thunar", "nemo", "caja", "pcmanfm",
	// desktop sessions
	"xorg", "x", "xwayland", "xvfb", "xinit", "startx", "gjs", "gjs-console", "mutter", "muffin", "kded5", "kded6", "kdeinit5", "ksmserver", "kglobalacceld",
	"sway", "hyprland", "i3", "bspwm", "openbox", "fluxbox", "xfwm4", "xfsettingsd", "xfdesktop", "xfconfd", "marco", "weston", "labwc", "niri", "river",
	"cosmic-comp", "cosmic-session", "budgie-panel", "lxsession", "sddm", "sddm-helper", "lightdm", "greetd", "dbus-daemon", "dbus-broker",
	"dbus-broker-launch", "dbus-launch", "ssh-agent", "gpg-agent", "polkitd", "wireplumber", "pulseaudio", "snapd", "init", "explorer", "dwm", "winlogon",
	"csrss", "svchost", "services", "lsass", "taskmgr", "finder", "dock", "windowserver", "loginwindow", "lamplighter",
	// assistants
	"claude", "claude-code", "claude-desktop", "codex", "codex-cli", "gemini", "gemini-cli", "chatgpt", "copilot", "copilot-agent", "cursor-agent", "aider",
	"goose", "goosed", "opencode", "amp", "droid", "crush", "q", "qchat", "kiro-cli", "auggie", "qwen", "cline", "continue", "cn", "kilocode", "plandex",
	"tabnine", "lm-studio", "jan", "warp-cli", "openhands",
	// what runs tests and keeps sources
	"pytest", "py.test", "jest", "vitest", "mocha", "ava", "karma", "cypress", "playwright", "phpunit", "rspec", "ctest", "bats", "tox", "nox", "git", "hg", "svn",
}

// guardedBeginnings are those of the names of whole suites. A server for one of
// them has "mcp" in its name.
var guardedBeginnings = []string{
	"gnome-", "gsd-", "plasma", "kwin", "kde", "org_kde_", "org.kde.", "org.gnome.", "xfce4-", "cinnamon", "mate-", "lxqt-", "gdm", "ibus-", "fcitx", "gvfs",
	"evolution-", "xdg-", "at-spi", "pipewire", "systemd", "google-chrome", "chrome", "chromium", "firefox", "microsoft-edge", "emacs", "vim.", "jetbrains",
}

// guardedScripts is what runs in an interpreter and is no server: the name of
// a script, a module, a package or a title, as monitor.ProgramName gives it.
var guardedScripts = []string{
	"pytest", "py.test", "unittest", "nose2", "tox", "nox", "behave", "robot", "ward", "coverage", "_jb_pytest_runner", "_jb_unittest_runner",
	"run_pytest_script", "vscode_pytest", "jest", "jest-cli", "jest-worker", "vitest", "tinypool", "mocha", "_mocha", "ava", "karma", "cypress", "playwright",
	"playwright-core", "@playwright/test", "jasmine", "wdio", "nightwatch", "qunit", "org.junit.platform.console.consolelauncher",
	"worker.org.gradle.process.internal.worker.gradleworkermain",

	"claude", "claude-code", "@anthropic-ai/claude-code", "codex", "@openai/codex", "gemini", "gemini-cli", "@google/gemini-cli", "copilot", "@github/copilot",
	"cursor-agent", "aider", "opencode", "opencode-ai", "amp", "@sourcegraph/amp", "qwen", "@qwen-code/qwen-code", "auggie", "@augmentcode/auggie", "cline",
	"cn", "@continuedev/cli", "kilocode", "droid", "crush", "goose", "openhands",

	"server-main", "bootstrap-fork", "code-server", "extensionhostprocess", "com.intellij.idea.main", "jupyter", "jupyter-lab", "jupyter-notebook",
	"ipykernel_launcher", "ipython", "xonsh", "gnome-tweaks", "terminator", "lamplighter",

	"npm", "npm-cli", "npx", "npx-cli", "yarn", "yarnpkg", "pnpm", "corepack", "pip", "pipx", "poetry", "hatch", "pdm", "conda",
}

// guardedProgram tells programs that are never a server; name is as
// monitor.ProgramName gives it.
func guardedProgram(name string) bool {
	if slices.Contains(guardedPrograms, name) {
		return true
	}
	return !strings.Contains(name, "mcp") &&
		slices.ContainsFunc(guardedBeginnings, func(b string) bool { return strings.HasPrefix(name, b) })
}

// guarded tells command lines that are never a server's, whatever a rule says.
func (c *command) guarded() bool {
	switch c.family {
	case native:
		return guardedProgram(monitor.ProgramName(c.exe[len(c.exe)-1])) || guardedProgram(c.name) || kindOf(c.name) == other
	case container, other:
		return false
	}
	what := slices.Clone(c.what)
	for _, prefix := range scriptPrefixes {
		rest, found := strings.CutPrefix(what[0], prefix)
		if what[0] = rest; found && slices.Contains(guardedScripts, packageAt(what)) {
			return true
		}
	}
	last := what[len(what)-1]
	if c.flag == "-m" {
		last, _, _ = strings.Cut(last, ".") // pytest.__main__
	}
	return slices.Contains(guardedScripts, monitor.ProgramName(last)) || slices.Contains(guardedScripts, installed(what))
}

// scriptPrefixes stand before what is no path: a title, a package.
var scriptPrefixes = []string{"title:", "npm:", "jsr:"}

// installed is the package in which a script lies, "" where it lies in none.
func installed(path []string) string {
	for i := len(path) - 2; i >= 0; i-- {
		switch path[i] {
		case "node_modules", "site-packages", "dist-packages":
			return packageAt(path[i+1:])
		}
	}
	return ""
}

func packageAt(path []string) string {
	if strings.HasPrefix(path[0], "@") && len(path) > 1 {
		return path[0] + "/" + path[1]
	}
	return path[0]
}
