package serenatest

import (
	"os"
	"path/filepath"
	"testing"
)

// GoProject makes a small Go project in a directory called name and returns
// the directory's path. It goes with the test.
func GoProject(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"go.mod": "module example.test/sample\n\ngo 1.24\n",
		"main.go": `// Command sample greets.
package main

import "fmt"

func main() { fmt.Println(greet("lamp")) }

// greet makes a greeting.
func greet(name string) string { return "hello, " + name }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The other MCP servers that the tools hold.
const (
	filesystemPackage = "@modelcontextprotocol/server-filesystem@2026.8.31"
	memoryPackage     = "@modelcontextprotocol/server-memory@2026.8.31"
	timePackage       = "mcp-server-time==2026.10.19"
)

// Filesystem is the command line of the reference filesystem server, through
// npx, for Options.Command.
func Filesystem(t testing.TB, dir string) []string {
	t.Helper()
	return append(npx(t, filesystemPackage), dir)
}

// Memory is the command line of the reference memory server, through npx, for
// Options.Command.
func Memory(t testing.TB) []string {
	t.Helper()
	return npx(t, memoryPackage)
}

func npx(t testing.TB, name string) []string {
	t.Helper()
	return []string{filepath.Join(Tools(t), "node", "bin", "npx"), "-y", name}
}

// Time is the command line of the reference time server, which is in Python,
// through uvx, for Options.Command.
func Time(t testing.TB) []string {
	t.Helper()
	return []string{filepath.Join(Tools(t), "venv", "bin", "uvx"), "--python", "3.11", timePackage}
}
