package process

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParseSchedstat(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"1061604399 45776330 670\n": 1061604399,
		"0 0 0\n":                   0,
		"9223372036854775807 1 1\n": 1<<63 - 1,
	} {
		if got, err := parseSchedstat([]byte(in)); err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", " ", "1", "-1 2 3", "x 2 3", "9223372036854775808 1 1"} {
		if got, err := parseSchedstat([]byte(bad)); err == nil {
			t.Errorf("%q became %v", bad, got)
		}
	}
}

func FuzzParseSchedstat(f *testing.F) {
	f.Add([]byte("1061604399 45776330 670\n"))
	f.Add([]byte{0xff, ' ', 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := parseSchedstat(data); err == nil && d < 0 {
			t.Fatalf("%q became %v", data, d)
		}
	})
}

func TestMainThreadCPU(t *testing.T) {
	if _, err := MainThreadCPU(os.Getpid()); err != nil {
		t.Error(err)
	}
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := MainThreadCPU(cmd.Process.Pid); !errors.Is(err, ErrGone) {
		t.Errorf("of a process that has ended: %v", err)
	}
}
