//go:build contract && linux

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// programsVariable names a folder that has both programs already.
const programsVariable = "LAMPLIGHTER_TEST_PROGRAMS"

// programs is the folder of lamplighter and lamplighter-connect, and self this
// program, where it can be given other names: those of servers.
var programs, self string

// home is the world in which the one daemon runs that most tests ask, and
// alpha the Serena that it has found there.
var (
	home  *world
	alpha *server
)

func TestMain(m *testing.M) {
	if !becomeServer(filepath.Base(os.Args[0]), os.Args[1:]) {
		os.Exit(runAll(m))
	}
}

func runAll(m *testing.M) int {
	t := new(setUp)
	defer t.end()
	must(t, json.Unmarshal([]byte(read("testdata/shapes.json")), &shapes))
	dir, err := os.MkdirTemp("", "contract")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	self = filepath.Join(dir, "self")
	must(t, exec.Command("cp", os.Args[0], self).Run())
	if programs = os.Getenv(programsVariable); programs == "" {
		programs = filepath.Join(dir, "programs")
		for name, pkg := range map[string]string{"lamplighter": "lamplighter/app", "lamplighter-connect": "lamplighter/app/connect"} {
			if out, err := exec.Command("go", "build", "-o", filepath.Join(programs, name), pkg).CombinedOutput(); err != nil {
				t.Fatal(err, string(out))
			}
		}
	}
	home = newWorld(t, 25282, 8888, "")
	alpha = home.startServer(t, "alpha")
	home.startDaemon(t, page, sessions)
	home.is(t, "live_with_project", "pid", float64(alpha.pid()))
	return m.Run()
}

// setUp stands for a test before there is one: what fails ends the program.
type setUp struct {
	testing.TB
	cleanups []func()
}

func (*setUp) Helper()              {}
func (*setUp) Failed() bool         { return false }
func (*setUp) Fatal(args ...any)    { panic(fmt.Sprint(args...)) }
func (s *setUp) Cleanup(end func()) { s.cleanups = append(s.cleanups, end) }

func (s *setUp) end() {
	for _, end := range slices.Backward(s.cleanups) {
		end()
	}
}

// must ends a test in which something that it needs did not work.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check says what is wrong unless it is right.
func check(t testing.TB, right bool, format string, args ...any) {
	t.Helper()
	if !right {
		t.Errorf(format, args...)
	}
}

// same compares what there is with what is wanted.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	check(t, reflect.DeepEqual(got, want), "%s: %v, want %v", what, got, want)
}

// write writes a file of the test.
func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
}

// read is what a file has, nothing when there is none.
func read(path string) string {
	text, _ := os.ReadFile(path) // what is missing is missed by who reads it
	return string(text)
}

// exists checks which of these files there are.
func exists(t testing.TB, want bool, paths ...string) {
	t.Helper()
	for _, path := range paths {
		_, err := os.Lstat(path)
		check(t, (err == nil) == want, "%s: %v", path, err)
	}
}

// table reads one of testdata: a row a line, with two spaces or more between its
// cells. What begins with # is a comment.
func table(t testing.TB, name string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			rows = append(rows, regexp.MustCompile(`  +`).Split(line, -1))
		}
	}
	return rows
}

// cell is one of a row, nothing where it is left out or "-".
func cell(row []string, i int) string {
	if i >= len(row) || row[i] == "-" {
		return ""
	}
	return row[i]
}

// fill puts what the test knows in the place of its names.
func fill(text string, known map[string]string) string {
	for name, value := range known {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}
