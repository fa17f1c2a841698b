package launch

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestStartsThatAreGivenUp are no failure of the server: nobody waits for it.
func TestStartsThatAreGivenUp(t *testing.T) {
	var log bytes.Buffer
	l, stop := running(t, t.TempDir(), func(l *Launcher) { l.o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Launch(ctx, order("--silent"))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nobody waits for it any more") {
		t.Error(err)
	}
	stop()
	if text := log.String(); !strings.Contains(text, `level=INFO msg="a server is not wanted any more"`) || strings.Contains(text, "WARN") {
		t.Error(text)
	}
}
