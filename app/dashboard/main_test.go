package dashboard

import (
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes the test's program a child that waits for the end of its
// stdin: a process that a test may end, and whose start is known.
const childVariable = "LAMPLIGHTER_TEST_DASHBOARD_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	goleak.VerifyTestMain(m)
}
