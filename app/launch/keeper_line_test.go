package launch

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"lamplighter/monitor"
)

func TestKeeperLines(t *testing.T) {
	id := monitor.Identity{PID: 12, Start: 345}
	for line, want := range map[string]keeperLine{
		"started 12 345":                 {what: "started", server: id},
		"failed no such\x1b[31m program": {what: "failed", text: "no such[31m program"},
		"failed":                         {what: "failed"},
		"exited 12 code 0":               {what: "exited", pid: 12, text: "exited with status 0"},
		"exited 12 code 3221225786":      {what: "exited", pid: 12, text: "exited with status 3221225786"},
		"exited 12 signal 9":             {what: "exited", pid: 12, text: "was ended by signal 9"},
		`output "a\nb \x00\""`:           {what: "output", text: "a\nb \x00\""},
		`output ""`:                      {what: "output"},
	} {
		if got, ok := parseKeeperLine(line); !ok || got != want {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
	for _, line := range []string{
		"", "started", "started 12", "started x 345", "started -1 345", "started 12 345 6", "started 0 1",
		"exited", "exited 12", "exited 12 code", "exited 12 signal x", "exited 0 code 1", "exited 12 signal 0", "exited 12 left 1",
		"output", "output a", `output "a`, "hello",
	} {
		if got, ok := parseKeeperLine(line); ok {
			t.Errorf("%q is taken for %+v", line, got)
		}
	}
}

func TestReadLines(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	var got []string
	take := func(line string) { got = append(got, line) }
	if err := readLines(strings.NewReader("one\n"+long+"\n\ntwo"), take); err != nil {
		t.Fatal(err)
	}
	if want := []string{"one", "", "two"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	broken := errors.New("broken")
	if err := readLines(io.MultiReader(strings.NewReader("three"), iotest.ErrReader(broken)), take); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
