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
