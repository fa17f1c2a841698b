package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"
)

// program is the keeper, built once.
var program string

// programVersion is its version, here and in test_wine of build/wine.sh.
const programVersion = "1.2.3-test"

// helperMode makes the test binary one of the helper programs.
const helperMode = "LAMPLIGHTER_CONNECT_TEST_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperMode); mode != "" {
		help(mode)
		return
	}
	dir, err := os.MkdirTemp("", "lamplighter-test")
	if err == nil {
		program, err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Microsoft/go-winio.ioCompletionProcessor"), goleak.Cleanup(func(status int) {
		os.RemoveAll(dir)
		os.Exit(status)
	}))
}

func build(dir string) (string, error) {
	name := "lamplighter-connect"
	if runtime.GOOS == "windows" {
		name += ".exe"
		// Under Wine there is no Go to build it with.
		if built := filepath.Join(os.Getenv("LAMPLIGHTER_TEST_PROGRAMS"), name); filepath.IsAbs(built) {
			return built, nil
		}
	}
	path := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w -X main.version="+programVersion, "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the keeper: %w\n%s", err, out)
	}
	return path, nil
}
