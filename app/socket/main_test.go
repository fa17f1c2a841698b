package socket

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// helperTask is what the test program does where it runs as another process.
const helperTask = "TEST_HELPER"

func TestMain(m *testing.M) {
	if task := os.Getenv(helperTask); task != "" {
		os.Exit(help(task, os.Args[1:]))
	}
	// On Windows one goroutine of the pipe library stays, for the whole process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Microsoft/go-winio.ioCompletionProcessor"))
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
