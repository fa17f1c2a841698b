package installer

import (
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// waitVariable makes this program one that waits for the end of its input.
const waitVariable = "LAMPLIGHTER_TEST_WAITS"

func TestMain(m *testing.M) {
	if os.Getenv(waitVariable) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin) // however it ends
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
