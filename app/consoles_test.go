package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// givers says of each file that starts programs on Windows where they get
// CREATE_NO_WINDOW: a console program would flash a window otherwise when it is
// started by the program for the tray, which has no console that it could share.
var givers = map[string]string{
	"app/cli/startinstalled.go":       "app/cli/detached_windows.go",
	"app/daemon/systemprogram.go":     "app/daemon/systemprogram_windows.go",
	"app/connect/tree_windows.go":     "app/connect/tree_windows.go",
	"app/launch/check_run.go":         "app/launch/check_run_windows.go",
	"app/launch/keeper.go":            "app/launch/keeper_windows.go",
	"app/workspace/gitwork/call.go":   "app/workspace/gitwork/call_windows.go",
	"app/workspace/shares_windows.go": "app/workspace/shares_windows.go",
	"installer/command.go":            "installer/command_windows.go",
	"app/cli/become_windows.go":       inOurConsole, // what a client has us be
	"app/workspace/run.go":            inOurConsole, // a job, which its user watches
	"icons/gen/main.go":               inOurConsole, // who develops runs it
}

// inOurConsole stands for a program that only a verb of the command line starts,
// where it belongs into the same console.
const inOurConsole = ""

// starters are the names of what starts a program, by their packages.
var starters = map[string][]string{
	"exec":    {"Command", "CommandContext", "Cmd"},
	"os":      {"StartProcess"},
	"syscall": {"StartProcess", "CreateProcess"},
	"windows": {"CreateProcess", "CreateProcessAsUser"},
}

// No program that we start on Windows may flash a console.
func TestNoConsoleFlashes(t *testing.T) {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "windows", "amd64", false
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if testSupport(filepath.ToSlash(filepath.Dir(name))) {
			return nil
		}
		if built, err := context.MatchFile(filepath.Dir(path), filepath.Base(path)); err != nil || !built {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var used ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr:
				used = n.Fun
			case *ast.CompositeLit:
				used = n.Type
			}
			if s, ok := used.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains(starters[pkg.Name], s.Sel.Name) {
					found[name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		where, known := givers[name]
		if !known {
			t.Errorf("%s starts programs: say in this test where those get CREATE_NO_WINDOW", name)
			continue
		}
		if where == inOurConsole {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(where)))
		if err != nil || !strings.Contains(string(text), "windows.CREATE_NO_WINDOW") {
			t.Errorf("%s does not give what %s starts CREATE_NO_WINDOW (%v)", where, name, err)
		}
	}
	for name := range givers {
		if !found[name] {
			t.Errorf("%s starts nothing any more: take it out of this test", name)
		}
	}
}
