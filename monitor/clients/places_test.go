package clients

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
)

// disk is a look at paths that are there.
func disk(paths ...string) onDisk {
	return onDisk{
		exists:  func(path string) bool { return slices.Contains(paths, path) },
		foreign: func(path string) bool { return strings.HasPrefix(path, "/tmp/") },
		list: func(dir string) []string {
			var names []string
			for _, p := range paths {
				for _, separator := range []string{"/", `\`} {
					if name, ok := strings.CutPrefix(p, dir+separator); ok && !strings.ContainsAny(name, `/\`) {
						names = append(names, name)
					}
				}
			}
			return names
		},
		read: func(string) []byte { return nil },
	}
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if n, value, _ := strings.Cut(pair, "="); n == name {
				return value
			}
		}
		return ""
	}
}

// said is what a test compares of a place.
func said(all []Place) []string {
	var lines []string
	for _, p := range all {
		lines = append(lines, strings.Join([]string{p.Client, string(p.Scope), p.Path}, " "))
	}
	return lines
}

func TestPlaces(t *testing.T) {
	for _, test := range []struct {
		name, goos, home, dir string
		env                   []string
		disk                  []string
		want                  []string
	}{
		{
			name: "Linux", goos: "linux", home: "/home/ada",
			want: []string{
				"claude-code user /home/ada/.claude.json",
				"claude-desktop user /home/ada/.config/Claude/claude_desktop_config.json",
				"codex user /home/ada/.codex/config.toml",
				"cursor user /home/ada/.cursor/mcp.json",
				"vscode user /home/ada/.config/Code/User/mcp.json",
				"vscode user /home/ada/.config/Code/User/settings.json",
				"vscode user /home/ada/.config/Code - Insiders/User/mcp.json",
				"vscode user /home/ada/.config/Code - Insiders/User/settings.json",
				"vscode user /home/ada/.config/VSCodium/User/mcp.json",
				"vscode user /home/ada/.config/VSCodium/User/settings.json",
				"gemini-cli user /home/ada/.gemini/settings.json",
			},
		},
		{
			name: "macOS, where XDG means nothing", goos: "darwin", home: "/Users/ada", env: []string{"XDG_CONFIG_HOME=/xdg"},
			disk: []string{"/Users/ada/Library/Application Support/Code/User/profiles/-1a2b3c"},
			want: []string{
				"claude-code user /Users/ada/.claude.json",
				"claude-desktop user /Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
				"codex user /Users/ada/.codex/config.toml",
				"cursor user /Users/ada/.cursor/mcp.json",
				"vscode user /Users/ada/Library/Application Support/Code/User/mcp.json",
				"vscode user /Users/ada/Library/Application Support/Code/User/profiles/-1a2b3c/mcp.json",
				"vscode user /Users/ada/Library/Application Support/Code/User/settings.json",
				"vscode user /Users/ada/Library/Application Support/Code - Insiders/User/mcp.json",
				"vscode user /Users/ada/Library/Application Support/Code - Insiders/User/settings.json",
				"vscode user /Users/ada/Library/Application Support/VSCodium/User/mcp.json",
				"vscode user /Users/ada/Library/Application Support/VSCodium/User/settings.json",
				"gemini-cli user /Users/ada/.gemini/settings.json",
			},
		},
		{
			name: "Windows, with a package and a project", goos: "windows", home: `C:\Users\ada`, dir: `C:\Users\ada\src\engine\cmd`,
			env: []string{`APPDATA=D:\Roaming`, `LOCALAPPDATA=D:\Local\`},
			disk: []string{
				`D:\Local\Packages\Claude_pzs8sxrjxfjjc`, `D:\Local\Packages\ClaudeMonitor_1`, `D:\Local\Packages\Microsoft.Windows`,
				`D:\Roaming\Code\User\profiles\4f`, `C:\Users\ada\src\engine\.git`,
			},
			want: []string{
				`claude-code user C:\Users\ada\.claude.json`,
				`claude-code project C:\Users\ada\src\engine\cmd\.mcp.json`,
				`claude-code project C:\Users\ada\src\engine\.mcp.json`,
				`claude-desktop user D:\Roaming\Claude\claude_desktop_config.json`,
				`claude-desktop user D:\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude\claude_desktop_config.json`,
				`codex user C:\Users\ada\.codex\config.toml`,
				`codex project C:\Users\ada\src\engine\cmd\.codex\config.toml`,
				`codex project C:\Users\ada\src\engine\.codex\config.toml`,
				`cursor user C:\Users\ada\.cursor\mcp.json`,
				`cursor project C:\Users\ada\src\engine\cmd\.cursor\mcp.json`,
				`cursor project C:\Users\ada\src\engine\.cursor\mcp.json`,
				`vscode user D:\Roaming\Code\User\mcp.json`,
				`vscode user D:\Roaming\Code\User\profiles\4f\mcp.json`,
				`vscode user D:\Roaming\Code\User\settings.json`,
				`vscode user D:\Roaming\Code - Insiders\User\mcp.json`,
				`vscode user D:\Roaming\Code - Insiders\User\settings.json`,
				`vscode user D:\Roaming\VSCodium\User\mcp.json`,
				`vscode user D:\Roaming\VSCodium\User\settings.json`,
				`vscode project C:\Users\ada\src\engine\cmd\.vscode\mcp.json`,
				`vscode project C:\Users\ada\src\engine\.vscode\mcp.json`,
				`gemini-cli user C:\Users\ada\.gemini\settings.json`,
				`gemini-cli project C:\Users\ada\src\engine\cmd\.gemini\settings.json`,
				`gemini-cli project C:\Users\ada\src\engine\.gemini\settings.json`,
			},
		},
		{name: "no home", goos: "linux", home: "", want: nil},
		{name: "a home that is not absolute", goos: "windows", home: `\Users\ada`, want: nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, line := range said(placesWith(test.goos, test.home, test.dir, env(test.env...), disk(test.disk...))) {
				if id, _, _ := strings.Cut(line, " "); monitor.HasWord("claude-code claude-desktop codex cursor vscode gemini-cli", id) {
					got = append(got, line)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// What most clients have is a place alone.
func TestPlacesOfOtherClients(t *testing.T) {
	for _, test := range []struct{ goos, home, dir, want string }{
		{"linux", "/h", "/w", `
			zed user /x/zed/settings.json
			zed project /w/.zed/settings.json
			opencode user /x/opencode/opencode.json
			opencode project /w/opencode.json
			opencode project /w/opencode.jsonc
			qwen-code user /h/.qwen/settings.json
			qwen-code project /w/.qwen/settings.json
			kiro user /h/.kiro/settings/mcp.json
			kiro project /w/.kiro/settings/mcp.json
			junie user /h/.junie/mcp/mcp.json
			junie project /w/.junie/mcp/mcp.json
			antigravity user /h/.gemini/antigravity/mcp_config.json
			windsurf user /h/.codeium/windsurf/mcp_config.json
			roo user /x/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json
			roo project /w/.roo/mcp.json
			kilo user /x/Code/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json
			kilo project /w/.kilocode/mcp.json
			cline user /x/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json
			cline user /x/Cursor/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`},
		{"darwin", "/h", "", `
			zed user /h/.config/zed/settings.json
			opencode user /x/opencode/opencode.json
			qwen-code user /h/.qwen/settings.json
			kiro user /h/.kiro/settings/mcp.json
			junie user /h/.junie/mcp/mcp.json
			antigravity user /h/.gemini/antigravity/mcp_config.json
			windsurf user /h/.codeium/windsurf/mcp_config.json
			roo user /h/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json
			kilo user /h/Library/Application Support/Code/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json
			cline user /h/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`},
		{"windows", `C:\h`, "", `
			zed user C:\h\AppData\Roaming\zed\settings.json
			opencode user C:\h\.config\opencode\opencode.json
			qwen-code user C:\h\.qwen\settings.json
			kiro user C:\h\.kiro\settings\mcp.json
			junie user C:\h\.junie\mcp\mcp.json
			antigravity user C:\h\.gemini\antigravity\mcp_config.json
			windsurf user C:\h\.codeium\windsurf\mcp_config.json
			roo user C:\h\AppData\Roaming\Code\User\globalStorage\rooveterinaryinc.roo-cline\settings\mcp_settings.json
			kilo user C:\h\AppData\Roaming\Code\User\globalStorage\kilocode.kilo-code\settings\mcp_settings.json
			cline user C:\h\AppData\Roaming\Code\User\globalStorage\saoudrizwan.claude-dev\settings\cline_mcp_settings.json`},
	} {
		lines := said(placesWith(test.goos, test.home, test.dir, env("XDG_CONFIG_HOME=/x"), disk("/x/Cursor/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")))
		first := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "zed ") })
		var want []string
		for line := range strings.Lines(strings.TrimSpace(test.want)) {
			want = append(want, strings.TrimSpace(line))
		}
		if got := lines[first:]; !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.goos, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Each variable moves its own client, and only when it is absolute.
func TestPlacesByEnvironment(t *testing.T) {
	for _, test := range []struct {
		goos, env, client string
		want              string // the first of that client
	}{
		{"linux", "CLAUDE_CONFIG_DIR=/work/claude", "claude-code", "/work/claude/.claude.json"},
		{"linux", "CLAUDE_CONFIG_DIR=~/.claude-work", "claude-code", "/home/ada/.claude.json"},
		{"linux", "CODEX_HOME=/work/codex/", "codex", "/work/codex/config.toml"},
		{"linux", "CODEX_HOME=codex", "codex", "/home/ada/.codex/config.toml"},
		{"linux", "CODEX_HOME=", "codex", "/home/ada/.codex/config.toml"},
		{"linux", "GEMINI_CLI_HOME=/work", "gemini-cli", "/work/.gemini/settings.json"},
		{"linux", "GEMINI_CLI_HOME=.", "gemini-cli", "/home/ada/.gemini/settings.json"},
		{"linux", "XDG_CONFIG_HOME=/xdg", "claude-desktop", "/xdg/Claude/claude_desktop_config.json"},
		{"linux", "XDG_CONFIG_HOME=/xdg", "vscode", "/xdg/Code/User/mcp.json"},
		{"linux", "XDG_CONFIG_HOME=/xdg", "codex", "/home/ada/.codex/config.toml"},
		{"linux", "XDG_CONFIG_HOME=xdg", "vscode", "/home/ada/.config/Code/User/mcp.json"},
		{"freebsd", "", "vscode", "/home/ada/.config/Code/User/mcp.json"},
		{"linux", `APPDATA=/roaming`, "vscode", "/home/ada/.config/Code/User/mcp.json"},
		{"windows", "", "claude-desktop", `C:\Users\ada\AppData\Roaming\Claude\claude_desktop_config.json`},
		{"windows", `APPDATA=\Roaming`, "vscode", `C:\Users\ada\AppData\Roaming\Code\User\mcp.json`},
		{"windows", `APPDATA=C:Roaming`, "vscode", `C:\Users\ada\AppData\Roaming\Code\User\mcp.json`},
		{"windows", `APPDATA=\\files\ada\Roaming`, "vscode", `\\files\ada\Roaming\Code\User\mcp.json`},
		{"windows", `CODEX_HOME=/codex`, "codex", `C:\Users\ada\.codex\config.toml`},
		{"windows", `CODEX_HOME=D:/codex`, "codex", `D:/codex\config.toml`},
	} {
		home := "/home/ada"
		if test.goos == "windows" {
			home = `C:\Users\ada`
		}
		all := placesWith(test.goos, home, "", env(test.env), disk())
		i := slices.IndexFunc(all, func(p Place) bool { return p.Client == test.client })
		if got := all[i].Path; got != test.want {
			t.Errorf("%s, %s: %s is at %s, want %s", test.goos, test.env, test.client, got, test.want)
		}
	}
}

func TestPlacesOfProject(t *testing.T) {
	for _, test := range []struct {
		name, goos, home, dir string
		disk                  []string
		want                  []string // of Claude Code
	}{
		{"no repository", "linux", "/home/ada", "/home/ada/src/engine", nil, []string{"/home/ada/src/engine/.mcp.json"}},
		{"the top of one", "linux", "/home/ada", "/home/ada/src", []string{"/home/ada/src/.git"}, []string{"/home/ada/src/.mcp.json"}},
		{"within one", "linux", "/home/ada", "/home/ada/src/a/b", []string{"/home/ada/src/.git"}, []string{"/home/ada/src/a/b/.mcp.json", "/home/ada/src/.mcp.json"}},
		{"the nearest", "linux", "/home/ada", "/home/ada/src/a", []string{"/home/ada/src/.git", "/home/ada/src/a/.git"}, []string{"/home/ada/src/a/.mcp.json"}},
		{"the home is one", "linux", "/home/ada", "/home/ada/src", []string{"/home/ada/.git"}, []string{"/home/ada/src/.mcp.json", "/home/ada/.mcp.json"}},
		{"never above the home", "linux", "/home/ada", "/home/ada/src", []string{"/home/.git", "/.git"}, []string{"/home/ada/src/.mcp.json"}},
		{"elsewhere", "linux", "/home/ada", "/srv/www/site", []string{"/srv/www/.git"}, []string{"/srv/www/site/.mcp.json", "/srv/www/.mcp.json"}},
		{"files above, of any repository", "linux", "/home/ada", "/home/ada/src/a/b", []string{"/home/ada/src/.git", "/home/ada/src/a/.mcp.json", "/home/ada/.mcp.json", "/home/.mcp.json"}, []string{
			"/home/ada/src/a/b/.mcp.json", "/home/ada/src/.mcp.json", "/home/ada/src/a/.mcp.json", "/home/ada/.mcp.json", "/home/.mcp.json",
		}},
		{"another user's above", "linux", "/home/ada", "/tmp/a/b", []string{"/tmp/.git", "/tmp/.mcp.json", "/tmp/a/.mcp.json"}, []string{"/tmp/a/b/.mcp.json"}},
		{"the root", "linux", "/home/ada", "/", nil, []string{"/.mcp.json"}},
		{"none", "linux", "/home/ada", "", nil, nil},
		{"not absolute", "linux", "/home/ada", "src", []string{"src/.git"}, nil},
		{"the home in other letters", "windows", `C:\Users\Ada\`, `c:\users\ada\src`, []string{`c:\.git`}, []string{`c:\users\ada\src\.mcp.json`}},
		{"a root of Windows", "windows", `C:\Users\ada`, `D:\src`, []string{`D:\.git`}, []string{`D:\src\.mcp.json`, `D:\.mcp.json`}},
		{"a share", "windows", `C:\Users\ada`, `\\files\src\a`, nil, []string{`\\files\src\a\.mcp.json`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range placesWith(test.goos, test.home, test.dir, env(), disk(test.disk...)) {
				if p.Client == "claude-code" && p.Scope == Project {
					got = append(got, p.Path)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// In the home, files that are both are the user's, and are there once.
func TestPlacesInTheHome(t *testing.T) {
	for _, test := range []struct{ goos, home, dir string }{
		{"linux", "/home/ada", "/home/ada/"},
		{"windows", `C:\Users\ada`, `c:/Users/Ada`},
	} {
		var projects []string
		for _, p := range placesWith(test.goos, test.home, test.dir, env(), disk()) {
			if p.Scope == Project && monitor.HasWord("claude-code vscode codex cursor gemini-cli qwen-code kiro", p.Client) {
				projects = append(projects, p.Client)
			}
		}
		if want := []string{"claude-code", "vscode"}; !slices.Equal(projects, want) {
			t.Errorf("%s: files of a project for %q, want %q", test.goos, projects, want)
		}
	}
}

// The thin layer looks at the real disk.
func TestPlacesOnDisk(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "src", "engine")
	for _, dir := range []string{
		filepath.Join(home, ".config", "VSCodium", "User", "profiles", "77aa"),
		filepath.Join(home, "elsewhere"),
		filepath.Join(project, "cmd"),
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	profiles := filepath.Join(home, ".config", "VSCodium", "User", "profiles")
	// A worktree has a file of that name.
	above := filepath.Join(home, "src", ".mcp.json")
	for _, file := range []string{filepath.Join(project, ".git"), filepath.Join(profiles, "no-folder"), above} {
		if err := os.WriteFile(file, []byte("gitdir: elsewhere\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"vscode user " + filepath.Join(profiles, "77aa", "mcp.json"), "cursor project " + filepath.Join(project, ".cursor", "mcp.json"), "claude-code project " + above}
	if runtime.GOOS != "windows" { // where a link needs a right that not all have
		if err := os.Symlink(filepath.Join(home, "elsewhere"), filepath.Join(profiles, "linked")); err != nil {
			t.Fatal(err)
		}
		want = append(want, "vscode user "+filepath.Join(profiles, "linked", "mcp.json"))
	}
	getenv := env("XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "APPDATA="+filepath.Join(home, ".config"))
	goos := runtime.GOOS
	if goos == "darwin" {
		goos = "linux"
	}
	got := said(Places(goos, home, filepath.Join(project, "cmd"), getenv))
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%q is missing in\n%s", line, strings.Join(got, "\n"))
		}
	}
	for _, line := range got {
		if strings.Contains(line, "no-folder") {
			t.Errorf("a file is taken for a profile: %q", line)
		}
	}
	if os.Chown(above, 4711, 4711) == nil && slices.Contains(said(Places(goos, home, filepath.Join(project, "cmd"), getenv)), "claude-code project "+above) {
		t.Error("another user's file above counts")
	}
}

// Each place is complete.
func TestPlacesAreComplete(t *testing.T) {
	all := placesWith("windows", `C:\Users\ada`, `D:\src`, env(), disk(`C:\Users\ada\AppData\Local\Packages\Claude_x`))
	for _, p := range all {
		if p.Client == "" || p.Name == "" || len(p.Tables) == 0 || p.Format == "" || p.Scope != User && p.Scope != Project {
			t.Errorf("%+v", p)
		}
	}
}

// The way up from a directory ends, on each system, whatever the directory is
// called.
func TestProjectsEnd(t *testing.T) {
	for _, c := range []struct{ goos, dir, home string }{
		{"windows", `\\server\share\\a/b\`, `C:\Users\ada`}, {"windows", `C:\`, `C:\`}, {"linux", "//a/../..//", "/home/ada"},
	} {
		s := system{goos: c.goos, home: c.home, getenv: env(), onDisk: disk()}
		if steps := len(s.upwards(c.dir)); steps > len(c.dir)+1 {
			t.Fatalf("from %q it looks up %d times", c.dir, steps)
		}
		found := s.projects(c.dir)
		if len(found) > 1 || len(found) == 1 && (found[0] != c.dir || !s.absolute(c.dir)) {
			t.Errorf("%q has %q", c.dir, found)
		}
	}
}
