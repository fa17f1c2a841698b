//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// programsVariable names the folder of the two programs, for several packages
// of tests to have them built once.
const programsVariable = "LAMPLIGHTER_TEST_PROGRAMS"

// Program is the program. Beside it lies lamplighter-connect, which it looks
// for there.
var Program string

// Main runs the tests of a package with the two programs, and ends with their
// exit status. The programs are built once, or are those of the folder that
// LAMPLIGHTER_TEST_PROGRAMS names; what is missing there is built into it.
func Main(m *testing.M) {
	// Where the tests themselves run under nohup, what they start would ignore
	// the hangup too. A signal that is handled here is reset for a child.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(func() int {
		dir := os.Getenv(programsVariable)
		if dir == "" {
			var err error
			if dir, err = os.MkdirTemp("", "lamplighter-test"); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer os.RemoveAll(dir)
		}
		Program = filepath.Join(dir, "lamplighter")
		for program, pkg := range map[string]string{Program: "lamplighter/app", Program + "-connect": "lamplighter/app/connect"} {
			if err := build(program, pkg); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		return m.Run()
	}())
}

// build builds a program unless it is there. Another package of tests may build
// it at the same time, and never sees half of one.
func build(program, pkg string) error {
	if _, err := os.Stat(program); err == nil {
		return nil
	}
	const linked = "-X main.version=1.2.3-test -X main.stamp=lamplighter-version=1.2.3-test;"
	aside, err := os.MkdirTemp(filepath.Dir(program), "build")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	built := filepath.Join(aside, filepath.Base(program))
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", linked, "-o", built, pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("building %s for the tests: %w\n%s", pkg, err, out)
	}
	return os.Rename(built, program)
}
