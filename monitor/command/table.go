package command

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// Trait is what is known of a program by its name. A program may have several.
type Trait uint

const (
	// What runs is the script, the class or the image that the arguments name.
	Python Trait = 1 << iota
	Node         // bun and deno too
	Java
	Container

	Starter     // starts other programs, and is never a server itself
	Fetcher     // a Starter that downloads Python packages
	Interpreter // any other program that runs the script which its first argument names

	Guarded       // people and desktops work in it: never a server, because a server can be ended
	GuardedTool   // never a server without "mcp" in its arguments
	GuardedScript // what runs in an interpreter and is never a server: the name of a script, a module, a package or a title
	GuardedImage  // what runs in a container and is never a server
	UserApp       // people work in it, also when a server has started it: never ended with that
	Browser       // the same, below a Serena

	posix
	cmdExe
	shells = posix | cmdExe
)

// programs is the one table of programs, by their monitor.ProgramName. Each name
// is in one row. RuntimeOf knows those of Python and Node.
var programs = []struct {
	traits Trait
	names  string
}{
	{Python, `py pyw`},
	{Node, `bun deno`},
	{Java, `java javaw`},
	{Container, `docker podman nerdctl finch com.docker.cli`},
	{Interpreter, `ruby perl php lua luajit julia rscript r dotnet mono beam.smp erl elixir escript iex racket sbcl tclsh swipl osascript
		wscript cscript wasmtime wasmer guile groovy scala kotlin`},

	{Starter | Interpreter | posix, `sh bash dash zsh ksh fish ash`},
	{Starter | cmdExe, `cmd`},
	{Starter | Fetcher, `uv uvx uv/tool`},
	{Starter | Fetcher | GuardedScript, `pipx`},
	{Starter | GuardedScript, `npx npx-cli npm npm-cli pnpm yarn yarnpkg poetry hatch pdm conda`},
	{Starter, `lamplighter-connect powershell pwsh busybox coreutils toybox pn pnpx pnx bunx env timeout nice nohup setsid stdbuf ionice sudo doas electron ssh systemd launchd make
		gmake just task ninja bazel go cargo gradle gradlew mvn mamba rye pixi mise direnv volta fnm asdf op doppler xargs watch entr strace
		gdb flatpak snap bwrap firejail tini dumb-init catatonit runc crun containerd-shim wsl nix nix-shell distrobox toolbox`},
	{Starter | UserApp, `tmux screen`},
	{Starter | Guarded, `nu`},

	// editors, terminals, shells and an assistant
	{Guarded | UserApp, `code code-insiders codium vscodium cursor windsurf kiro zed zed-editor idea idea64 pycharm pycharm64 goland goland64
		webstorm webstorm64 emacs vim nvim gvim nano gedit kate kwrite subl sublime_text soffice libreoffice evince okular gnome-terminal
		gnome-terminal-server konsole xterm alacritty kitty wezterm wezterm-gui foot tilix xfce4-terminal claude-desktop`},
	{Guarded, `code-oss code-tunnel zeditor trae antigravity positron vi mvim nvim-qt neovide ex micro hx helix kak geany mousepad xed pluma
		plugin_host atom lapce eclipse netbeans clion clion64 rider rider64 rubymine phpstorm datagrip fleet studio studio64 xcode bbedit
		textedit notepad notepad++ devenv rstudio obsidian`},
	{Guarded, `nushell tcsh csh elvish mksh rbash login su sshd mosh-server zellij byobu uxterm urxvt rxvt st footclient kitten
		wezterm-mux-server ghostty yakuake terminology guake tilda lxterminal qterminal ptyxis kgx warp warp-terminal hyper tabby iterm2
		terminal windowsterminal openconsole conhost mintty`},
	// browsers and other programs on a desk
	{Guarded | Browser, `firefox librewolf waterfox chrome google-chrome chromium chromium-browser brave brave-browser vivaldi vivaldi-bin
		opera msedge microsoft-edge epiphany konqueror falkon qutebrowser safari xdg-open x-www-browser sensible-browser`},
	{Guarded, `midori arc thorium webkitwebprocess webkitnetworkprocess qtwebengineprocess thunderbird thunderbird-bin slack discord spotify
		steam steamwebhelper zoom teams signal-desktop telegram-desktop soffice.bin winword excel outlook gimp inkscape blender vlc mpv
		nautilus dolphin thunar nemo caja pcmanfm`},
	// desktop sessions
	{Guarded, `xorg x xwayland xvfb xinit startx gjs gjs-console mutter muffin kded5 kded6 kdeinit5 ksmserver kglobalacceld sway hyprland i3
		bspwm openbox fluxbox xfwm4 xfsettingsd xfdesktop xfconfd marco weston labwc niri river cosmic-comp cosmic-session budgie-panel
		lxsession sddm sddm-helper lightdm greetd dbus-daemon dbus-broker dbus-broker-launch dbus-launch ssh-agent gpg-agent polkitd
		wireplumber pulseaudio snapd init explorer dwm winlogon csrss svchost services lsass taskmgr finder dock windowserver loginwindow`},
	// assistants, and what is a script as they are
	{Guarded | GuardedScript | UserApp, `claude codex gemini opencode terminator`},
	{Guarded | GuardedScript, `xonsh lamplighter claude-code gemini-cli copilot cursor-agent aider goose amp droid crush auggie qwen cline cn kilocode openhands`},
	{Guarded, `codex-cli chatgpt copilot-agent goosed q qchat kiro-cli continue plandex tabnine lm-studio jan warp-cli`},
	{GuardedScript, `@anthropic-ai/claude-code @anthropic-ai/claude-agent-sdk @openai/codex @google/gemini-cli @github/copilot opencode-ai @sourcegraph/amp @qwen-code/qwen-code
		@augmentcode/auggie @continuedev/cli`},
	// what runs tests and keeps sources
	{Guarded | GuardedScript, `pytest py.test jest vitest mocha ava karma cypress playwright tox nox`},
	{Guarded, `phpunit rspec ctest bats git hg svn`},
	// what else runs where people develop software
	{Guarded, `rg grep tail head cat less sleep find sed awk tee sort curl wget postgres redis-server mysqld mongod nginx dockerd containerd`},
	{GuardedTool, `gh sqlite3 psql caddy hugo ollama terraform kubectl`},
	// what editors start for a language, to format, to debug and to see files change
	{GuardedTool, `gopls rust-analyzer clangd lua-language-server marksman terraform-ls docker-langserver zls nil nixd texlab taplo ccls metals
		omnisharp omnisharp.dll fsautocomplete elixir-ls solargraph phpactor helm_ls oxc_language_server tinymist ocamllsp serve-d ty tsgo
		shfmt stylua clang-format rustfmt gofmt gofumpt goimports dlv lldb-dap lldb-vscode codelldb netcoredbg vsdbg fsnotifier fsnotifier64
		watchman fswatch inotifywait`},
	{GuardedTool | GuardedScript, `ruff biome dprint oxlint intelephense svelteserver pyright basedpyright prettierd eslint_d lsp_server dapdebugserver`},
	{GuardedScript, `next applet tsc tsserver typescript eslint prettier vite nuxt astro webpack rollup esbuild nodemon concurrently turbo storybook
		react-scripts gulp grunt http-server json-server pm2 mcp-inspector jdtls venv debugpy mypy black pylint pylsp
		jedi-language-server django-admin ansible-playbook mkdocs sphinx-build pre-commit networkd-dispatcher unattended-upgrade
		blueman-applet supervisord jenkins.war plantuml.jar`},
	{Interpreter | GuardedScript, `tsx ts-node`},
	{GuardedImage, `ghcr.io/astral-sh/uv mcr.microsoft.com/devcontainers/base mcr.microsoft.com/playwright`},
	{GuardedScript, `unittest nose2 behave robot ward coverage _jb_pytest_runner _jb_unittest_runner run_pytest_script vscode_pytest jest-cli
		jest-worker tinypool _mocha playwright-core @playwright/test jasmine wdio nightwatch qunit`},
	// parts of editors, and what starts others as a script
	{GuardedScript, `server-main bootstrap-fork code-server extensionhostprocess jupyter jupyter-lab jupyter-notebook
		ipykernel_launcher ipython corepack pip gnome-tweaks`},
}

// guardedBeginnings are the beginnings of names of whole suites, which are Guarded.
// A server for one of them has "mcp" in its name.
const guardedBeginnings = `gnome- gsd- plasma kwin kde org_kde_ org.kde. org.gnome. xfce4- cinnamon mate- lxqt- gdm ibus- fcitx gvfs evolution-
	xdg- at-spi pipewire systemd google-chrome chrome chromium firefox microsoft-edge emacs vim. jetbrains`

// Is reports whether a program has one of these traits; name is as
// monitor.ProgramName gives it.
func Is(name string, traits Trait) bool {
	isOfSuite := func(begin string) bool { return strings.HasPrefix(name, begin) }
	return traitsOf(name, traits) != 0 ||
		traits&Guarded != 0 && !strings.Contains(name, "mcp") && slices.ContainsFunc(strings.Fields(guardedBeginnings), isOfSuite)
}

// traitsOf returns which of these traits a program has.
func traitsOf(name string, among Trait) Trait {
	for i := range programs {
		if traits := programs[i].traits & among; traits != 0 && monitor.HasWord(programs[i].names, name) {
			return traits
		}
	}
	return 0
}

// RuntimeOf returns which of Python, Node, Java and Container a program is, in
// any of its versions, such as python3.13t and node-22; 0 for none.
func RuntimeOf(name string) Trait {
	switch strings.TrimRight(name, "-0123456789.t") {
	case "node", "nodejs":
		return Node
	case "python", "pythonw", "pypy":
		return Python
	}
	return traitsOf(name, Python|Node|Java|Container)
}

// IsPython reports whether a name is that of an interpreter of Python.
func IsPython(name string) bool { return RuntimeOf(name) == Python }

// SparesBrowsers reports whether a browser below a server of this kind is one that
// people work in: a page that Serena opened in a browser that did not run yet makes
// that browser its child. One that another server has started, as Playwright's does,
// is its tool and ends with it.
func SparesBrowsers(kind string) bool { return kind == monitor.KindSerena }

// IsUserApp reports whether people work in a process: an editor, a terminal and
// the like, or, where browsers are spared, a browser. Of the path of its executable
// and its short name each may be empty, when it is not known. The name up to its
// first dot counts as well ("soffice.bin").
func IsUserApp(exe, name string, sparesBrowsers bool) bool {
	traits := UserApp
	if sparesBrowsers {
		traits |= Browser
	}
	for _, path := range []string{exe, name} {
		program := monitor.ProgramName(path)
		stem, _, _ := strings.Cut(program, ".")
		if traitsOf(program, traits)|traitsOf(stem, traits) != 0 {
			return true
		}
	}
	return false
}
