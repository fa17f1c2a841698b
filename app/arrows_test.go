package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of the module, whose root is the parent directory.
const module = "lamplighter"

// mayImport says which package of ours may import which other one. Both are
// directories below the root.
func mayImport(from, to string) bool {
	below := func(dir, top string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }
	switch {
	case testSupport(to):
		return testSupport(from)
	case from == "monitor":
		return false
	case from == "monitor/secret": // texts, whosever they are
		return false
	case from == "monitor/command": // reads command lines, and knows no server
		return to == "monitor"
	case from == "monitor/clients": // reads settings, and edits none
		return slices.Contains([]string{"monitor", "monitor/command", "monitor/process", "monitor/statefile"}, to)
	case from == "monitor/rules": // decides, and looks at nothing
		return slices.Contains([]string{"monitor", "monitor/command", "monitor/clients", "monitor/process"}, to)
	case below(from, "icons"):
		return below(to, "icons")
	case from == "installer/gen": // writes what lies around the programs, and is in none
		return to == "app/cli" || to == "installer"
	case below(from, "installer"):
		return below(to, "installer") && to != "installer/gen" || to == "monitor/statefile"
	case from == "monitor/view": // words, and no clock
		return to == "monitor"
	case from == "monitor/situation": // records, and decides nothing
		return slices.Contains([]string{"monitor", "monitor/serena", "monitor/rules", "monitor/process", "monitor/command", "monitor/secret"}, to)
	case below(from, "monitor"):
		return below(to, "monitor")
	case below(from, "tray"):
		return below(to, "monitor") || to == "icons" || below(to, "tray")
	case from == "app":
		return to == "app/cli"
	case from == "app/launch":
		return slices.Contains([]string{"app/mcp", "app/project", "monitor", "monitor/process", "monitor/serena", "monitor/statefile", "monitor/command"}, to)
	case from == "app/project": // knows directories, and no server
		return to == "monitor"
	case from == "app/notify": // shows what it is told
		return to == "monitor"
	case from == "app/policies": // decides nothing, and ends nothing itself
		return slices.Contains([]string{"monitor", "monitor/policy", "monitor/stop", "monitor/process", "monitor/statefile"}, to)
	case from == "app/connect": // is to be tiny
		return to == "monitor/command" || to == "app/share/wire"
	case from == "app/share/wire": // is in both programs
		return false
	case from == "app/mcp": // knows a server and its protocol, and no client
		return to == "app/share/wire"
	case from == "app/share": // the servers, whoever their clients are
		return below(to, "monitor") || slices.Contains([]string{"app/launch", "app/mcp", "app/project", "app/share/wire"}, to)
	case from == "app/share/proxy": // the clients
		return below(to, "monitor") || below(to, "app/share") || slices.Contains([]string{"app/launch", "app/mcp", "app/payload", "app/socket"}, to)
	case from == "app/socket": // whoever connects
		return to == "app/config" || below(to, "monitor")
	case from == "app/setup/document": // bytes, and no file
		return to == "monitor" || to == "monitor/clients"
	case from == "app/setup/foreignfile": // files, whatever is in them
		return to == "monitor" || to == "monitor/statefile"
	case from == "app/setup": // settings of clients, and no server
		return below(to, "monitor") || below(to, "app/setup") || slices.Contains([]string{"app/share", "app/config"}, to)
	case slices.Contains([]string{"app/workspace/tree", "app/workspace/gitwork", "app/workspace/inuse", "app/workspace/confine"}, from): // know no workspace
		return slices.Contains([]string{"monitor", "monitor/statefile", "monitor/process", "app/workspace/mounts"}, to)
	case from == "app/workspace/mounts": // a text, whosever it is
		return false
	case from == "app/workspace/assistant": // speaks for workspaces, and knows nothing of files
		return to == "app/workspace" || to == "monitor"
	case from == "app/workspace": // files and jobs, and neither servers nor views
		return below(to, "app/workspace") && to != "app/workspace/assistant" || slices.Contains([]string{"monitor", "monitor/statefile", "monitor/process"}, to)
	case from == "app/cli": // shows what is, and orders
		return below(to, "monitor") || below(to, "app/setup") || below(to, "app/workspace") || slices.Contains([]string{
			"app/daemon", "app/api", "app/config", "app/doctor", "app/launch", "app/session", "installer",
		}, to)
	case from == "app/daemon": // composes
		return to != "app" && to != "app/cli"
	case from == "app/doctor" && to == "installer": // shows how start at login stands
		return true
	case below(from, "app"):
		return below(to, "monitor") || strings.HasPrefix(to, "app/") && to != "app/cli" && to != "app/daemon"
	}
	return true
}

// testSupport tells a package that only tests import, such as
// monitor/serena/serenatest. No part of the product may import one.
func testSupport(dir string) bool {
	return strings.HasSuffix(dir, "test") || dir == "app/e2e" || strings.HasPrefix(dir, "app/e2e/")
}

// mayUse says which file of ours may import a package of others.
func mayUse(file, pkg string) bool {
	switch {
	case pkg == "fyne.io/systray":
		return strings.HasPrefix(file, "tray/systray")
	case pkg == "github.com/gen2brain/beeep": // is not needed on a freedesktop
		return file == "app/notify/system.go"
	case pkg == "github.com/spf13/cobra": // is the command line
		return slices.Contains([]string{"app/cli", "installer/gen"}, path.Dir(file))
	case strings.HasPrefix(pkg, "github.com/coreos/go-systemd/"):
		return path.Dir(file) == "app/socket"
	case strings.HasPrefix(pkg, "github.com/modelcontextprotocol/") && path.Dir(file) == "app/workspace/assistant":
		return true
	case strings.HasPrefix(pkg, "github.com/modelcontextprotocol/"), strings.HasPrefix(pkg, "github.com/chromedp/"):
		return testSupport(path.Dir(file))
	}
	return true
}

func TestArrows(t *testing.T) {
	const root = ".."
	files := 0
	for _, top := range []string{"app", "tray", "monitor", "icons", "installer"} {
		err := fs.WalkDir(os.DirFS(root), top, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && slices.Contains([]string{"testdata", "vendor"}, entry.Name()) {
				return fs.SkipDir
			}
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			files++
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range parsed.Imports {
				pkg, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if to, ours := strings.CutPrefix(pkg, module+"/"); ours {
					if from := path.Dir(name); from != to && !mayImport(from, to) {
						t.Errorf("%s imports %s: %s must not depend on it", name, pkg, from)
					}
				} else if !mayUse(name, pkg) {
					t.Errorf("%s imports %s", name, pkg)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files == 0 {
		t.Error("no source was found")
	}
}

func TestTheRulesOfTheArrows(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"app", "app/cli", true},
		{"app", "monitor", false},
		{"app", "app/daemon", false},
		{"app/cli", "app/daemon", true},
		{"app/cli", "app/doctor", true},
		{"app/cli", "tray", false},
		{"app/cli", "app/share", false},
		{"app/cli", "app/dashboard", false},
		{"app/daemon", "tray", true},
		{"app/daemon", "app/dashboard", true},
		{"app/daemon", "installer", true},
		{"app/daemon", "app/cli", false},
		{"app/daemon", "app/daemon/daemontest", false},
		{"app/doctor", "app/daemon", false},
		{"app/api", "monitor", true},
		{"app/api", "app/cli", false},
		{"app/api", "app/daemon", false},
		{"app/dashboard", "app/api", true},
		{"app/dashboard", "tray", false},
		{"app/dashboard", "icons", false},
		{"app/launch", "monitor/process", true},
		{"app/launch", "monitor", true},
		{"app/launch", "app/mcp", true},
		{"app/launch", "monitor/serena", true},
		{"app/launch", "monitor/watch", false},
		{"app/launch", "monitor/stop", false},
		{"app/launch", "monitor/command", true},
		{"app/notify", "monitor", true},
		{"app/notify", "monitor/policy", false},
		{"app/notify", "icons", false},
		{"monitor/command", "monitor", true},
		{"monitor/command", "monitor/process", false},
		{"monitor/rules", "monitor/command", true},
		{"monitor/rules", "monitor/clients", true},
		{"app/connect", "monitor", false},
		{"app/connect", "monitor/process", false},
		{"app/connect", "monitor/command", true},
		{"app/connect", "app/share/wire", true},
		{"app/connect", "app/mcp", false},
		{"app/share/wire", "monitor", false},
		{"app/mcp", "app/share/wire", true},
		{"app/mcp", "monitor", false},
		{"app/mcp", "app/launch", false},
		{"app/share", "app/launch", true},
		{"app/share", "app/mcp", true},
		{"app/share", "app/share/proxy", false},
		{"app/share", "app/api", false},
		{"app/share/proxy", "app/share", true},
		{"app/share/proxy", "app/mcp", true},
		{"app/share/proxy", "app/socket", true},
		{"app/share/proxy", "app/api", false},
		{"app/share/proxy", "app/cli", false},
		{"app/share/proxy", "app/mcptest", false},
		{"app/socket", "app/api", false},
		{"app/api", "app/socket", true},
		{"app/setup", "monitor/secret", true},
		{"monitor/secret", "monitor", false},
		{"app/session", "app/launch", true},
		{"app/project", "monitor", true},
		{"app/project", "monitor/process", false},
		{"app/launch", "app/project", true},
		{"app/policies", "monitor/policy", true},
		{"app/policies", "monitor/stop", true},
		{"app/policies", "monitor/watch", false},
		{"app/policies", "app/config", false},
		{"app/workspace", "app/workspace/tree", true},
		{"app/workspace", "app/workspace/assistant", false},
		{"app/workspace", "app/session", false},
		{"app/workspace/tree", "monitor/statefile", true},
		{"app/workspace/gitwork", "app/workspace/tree", false},
		{"app/workspace/inuse", "monitor", true},
		{"app/workspace/confine", "app/workspace", false},
		{"app/workspace/assistant", "app/workspace", true},
		{"app/workspace/assistant", "app/workspace/tree", false},
		{"tray", "icons", true},
		{"tray", "monitor/watch", true},
		{"tray", "app/dashboard", false},
		{"monitor/watch", "monitor/process", true},
		{"monitor/watch", "tray", false},
		{"monitor/view", "monitor", true},
		{"monitor/view", "monitor/policy", false},
		{"monitor/situation", "monitor/policy", false},
		{"monitor/situation", "monitor/stop", false},
		{"monitor/situation", "monitor/watch", false},
		{"app/doctor", "monitor/situation", true},
		{"monitor", "monitor/watch", false},
		{"icons", "monitor", false},
		{"icons/generate", "monitor", false},
		{"icons/generate", "icons", true},
		{"installer", "app/config", false},
		{"installer", "installer/gen", false},
		{"installer", "monitor/statefile", true},
		{"installer", "monitor", false},
		{"installer/gen", "app/cli", true},
		{"installer/gen", "app/config", false},
		{"app/cli", "installer", true},
		{"app/doctor", "installer", true},
		{"app/api", "installer", false},
		{"tray", "installer", false},
		{"app/cli", "monitor/serena/serenatest", false},
		{"app/cli", "app/e2e", false},
		{"app/e2e", "monitor/serena/serenatest", true},
		{"app/e2e/page", "app/e2e", true},
		{"monitor/watch", "monitor/serena/serenatest", false},
	} {
		if got := mayImport(test.from, test.to); got != test.want {
			t.Errorf("%s → %s: %v", test.from, test.to, got)
		}
	}
	if mayUse("tray/menu.go", "fyne.io/systray") || !mayUse("tray/systray.go", "fyne.io/systray") ||
		mayUse("app/share/share.go", "github.com/modelcontextprotocol/go-sdk/mcp") || !mayUse("app/workspace/assistant/tools.go", "github.com/modelcontextprotocol/go-sdk/mcp") ||
		mayUse("app/daemon/run.go", "github.com/coreos/go-systemd/v22/activation") || !mayUse("app/socket/inherited.go", "github.com/coreos/go-systemd/v22/activation") ||
		mayUse("app/daemon/clientflags.go", "github.com/spf13/cobra") || !mayUse("app/cli/run.go", "github.com/spf13/cobra") {
		t.Error("a foreign package is judged wrongly")
	}
}

func TestMainIsShort(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > 40 {
		t.Errorf("main.go has %d lines; what it does belongs into app/cli", n)
	}
}
