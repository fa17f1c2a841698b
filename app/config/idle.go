package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"time"

	"lamplighter/monitor/statefile"
)

// SetIdle writes into the settings file at path after how long a server ends that
// nobody has called, 0 for never, and whether one does whose client is connected.
// All else in the file stays as it is, comments too; where that cannot be, nothing
// is changed. The error is a sentence for people.
func SetIdle(path string, after time.Duration, attached bool) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // of a link what it leads to is changed
	}
	text, err := read(path, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return &FileError{Path: path, Problems: []Problem{{Text: unreadable(err)}}}
	}
	want, problems := parse(text)
	if len(problems) > 0 {
		return &FileError{Path: path, Problems: problems}
	}
	minutes, action := none, ActionNotify
	if after > 0 {
		minutes = strconv.FormatFloat(after.Minutes(), 'f', -1, 64)
	}
	if attached {
		action = ActionStop
	}
	want.IdleShutdownMinutes = new(Minutes(after))
	text = withLine(text, "idle_shutdown_minutes", minutes)
	if attached || want.IdleShutdownAttached != "" {
		want.IdleShutdownAttached = action
		text = withLine(text, "idle_shutdown_attached", string(action))
	}
	got, problems := parse(text)
	switch {
	case len(problems) > 0:
		return &FileError{Path: path, Problems: problems}
	case !reflect.DeepEqual(got, want):
		return fmt.Errorf("%s is written in a way that cannot be changed from here: write idle_shutdown_minutes: %s into it", path, minutes)
	}
	info, statErr := os.Stat(path)
	if err := statefile.Replace(path, text); err != nil {
		return fmt.Errorf("the settings were not written: %w", err)
	}
	if statErr == nil {
		return os.Chmod(path, info.Mode().Perm())
	}
	return nil
}

// withLine is a text in which a key has a value, on its own line or on a new one at
// the end.
func withLine(text []byte, key, value string) []byte {
	line := regexp.MustCompile(`(?m)^` + key + `:[^#\r\n]*?([ \t]+#[^\r\n]*)?(\r?)$`)
	if line.Match(text) {
		return line.ReplaceAll(text, []byte(key+": "+value+"$1$2"))
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	return append(text, key+": "+value+"\n"...)
}
