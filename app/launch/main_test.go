package launch

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// helperArg as the first argument makes the test binary one of the programs of
// helper_test.go.
const helperArg = "act"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == helperArg {
		os.Exit(act(os.Args[2], os.Args[3:]))
	}
	// What is parallel here waits for processes, and not for a core.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	flag.Parse() // which may say otherwise
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		if builtKeeper.dir != "" {
			os.RemoveAll(builtKeeper.dir)
		}
		os.Exit(status)
	}))
}
