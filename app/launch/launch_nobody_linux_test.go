package launch

import (
	"os"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor/process"
)

// nobody checks that no helper of ours is left, whatever it calls itself.
func nobody(t *testing.T) {
	t.Helper()
	all, err := process.NewTable().Pass()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if slices.Contains(p.Args, helperArg) && strings.HasSuffix(p.Exe, "launch.test") && p.PID != os.Getpid() {
			t.Errorf("%v runs: %q", p.Identity, p.Args)
		}
	}
}
