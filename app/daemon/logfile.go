package daemon

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"gopkg.in/natefinch/lumberjack.v2"

	"lamplighter/app/config"
	"lamplighter/monitor/statefile"
)

// ErrNoStateDir: our files have no place.
var ErrNoStateDir = errors.New("there is no home directory and LAMPLIGHTER_STATE_DIR is not set")

// StateDirectory makes the state directory, private to the user.
func StateDirectory(dir string) error {
	if dir == "" {
		return ErrNoStateDir
	}
	err := config.MakePrivate(dir, "LAMPLIGHTER_STATE_DIR")
	if err == nil || errors.Is(err, config.ErrNotPrivate) {
		return err
	}
	return statefile.Error(err, dir)
}

// openLog opens lamplighter.log in dir, readable by the user alone. It is
// rotated at 1 MB and two old ones are kept. failed is called when it cannot be
// written for the first time.
func openLog(dir string, level slog.Leveler, failed func(error)) (*slog.Logger, io.Closer, error) {
	path := filepath.Join(dir, "lamplighter.log")
	// The rotating writer reports nothing and follows links, so try first.
	f, err := statefile.Open(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	err = f.Chmod(0o600)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, statefile.Error(err, path)
	}
	file := &lumberjack.Logger{Filename: path, MaxSize: 1, MaxBackups: 2}
	out := &watchedWriter{Writer: file, failed: func(err error) { failed(statefile.Error(err, path)) }}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), file, nil
}

// watchedWriter tells failed, once, that its Writer cannot be written: who logs
// is not told.
type watchedWriter struct {
	io.Writer
	failed func(error)
	told   atomic.Bool
}

func (w *watchedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if err != nil && !w.told.Swap(true) {
		w.failed(err)
	}
	return n, err
}
