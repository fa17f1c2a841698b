// Package config knows the settings file and where our files live.
//
// The file is read strictly: an unknown name, a wrong value or anything that
// is not plain YAML is refused with its line and what to do, and the caller
// then goes on with Default. What a setting does is not decided here.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"lamplighter/monitor/rules"
	"lamplighter/monitor/statefile"
)

// Settings is everything that the file can say. It shares no memory with the
// file or with other Settings, and is not changed once it is made.
type Settings struct {
	TrayIcon TrayIcon     `yaml:"tray_icon"`
	LogLevel LogLevel     `yaml:"log_level"`
	Servers  []rules.Rule `yaml:"servers"` // besides the built-in rules, or in their place
	Layer
	SessionKeys
	PolicyKeys
	SharingKeys
	WorkspaceKeys
}

// Default is what holds where the file says nothing.
func Default() Settings {
	return Settings{TrayIcon: TrayIconAuto, LogLevel: LogLevel(slog.LevelInfo)}
}

// TrayIcon says which artwork the tray icon uses, or that there is none.
type TrayIcon string

const (
	TrayIconAuto   TrayIcon = "auto"   // readable on a light panel and on a dark one
	TrayIconLight  TrayIcon = "light"  // for a light panel
	TrayIconDark   TrayIcon = "dark"   // for a dark panel
	TrayIconHidden TrayIcon = "hidden" // everything stays reachable from the command line
)

// UnmarshalText accepts the four words and nothing else.
func (t *TrayIcon) UnmarshalText(text []byte) error {
	return setWord(t, text, TrayIconAuto, TrayIconLight, TrayIconDark, TrayIconHidden)
}

// LogLevel is the least important level that is written to the log.
type LogLevel slog.Level

// UnmarshalText accepts debug, info, warn and error.
func (l *LogLevel) UnmarshalText(text []byte) error {
	switch string(text) {
	case "debug":
		*l = LogLevel(slog.LevelDebug)
	case "info":
		*l = LogLevel(slog.LevelInfo)
	case "warn":
		*l = LogLevel(slog.LevelWarn)
	case "error":
		*l = LogLevel(slog.LevelError)
	default:
		return fmt.Errorf("%s is not one of debug, info, warn, error", excerpt(string(text)))
	}
	return nil
}

// Level makes a LogLevel usable as a slog.Leveler.
func (l LogLevel) Level() slog.Level { return slog.Level(l) }

// maxSize is the largest settings file that is read, in bytes.
const maxSize = 64 << 10

// FileError says what is wrong with a settings file.
type FileError struct {
	Path     string
	Problems []Problem // at least one, in the order of the file
}

// Problem is one thing wrong. Line counts from 1; 0 means the whole file.
type Problem struct {
	Line int
	Text string
}

// Error names at most three problems in one line.
func (e *FileError) Error() string { return strings.Join(e.Lines(), "; ") }

// Lines are at most three problems, a line each, and one that says how many more
// there are.
func (e *FileError) Lines() []string {
	const most = 3
	var lines []string
	for i, p := range e.Problems {
		if i == most {
			return append(lines, fmt.Sprintf("and %d more", len(e.Problems)-most))
		}
		line := e.Path
		if p.Line > 0 {
			line += fmt.Sprintf(":%d", p.Line)
		}
		lines = append(lines, line+": "+p.Text)
	}
	return lines
}

// Load reads the file at path. The settings it returns can always be used:
// those of the file, or Default together with a *FileError. A file that does
// not exist is an error only when required, which means that the user named
// it.
func Load(path string, required bool) (Settings, error) {
	if path == "" {
		return Default(), nil
	}
	text, err := read(path, maxSize)
	return judge(path, required, text, err)
}

// judge makes settings of what reading the file at path gave.
func judge(path string, required bool, text []byte, err error) (Settings, error) {
	if errors.Is(err, fs.ErrNotExist) && !required {
		return Default(), nil
	}
	if err != nil {
		return Default(), &FileError{Path: path, Problems: []Problem{{Text: unreadable(err)}}}
	}
	settings, problems := parse(text)
	if len(problems) > 0 {
		return Default(), &FileError{Path: path, Problems: problems}
	}
	return settings, nil
}

// tooLarge is the error of a file with more than so many bytes.
type tooLarge int64

func (t tooLarge) Error() string {
	return fmt.Sprintf("is larger than %d KiB, so it is not a settings file", int64(t)>>10)
}

// read reads a regular file of at most limit bytes. It does not wait for a
// writer when the path is a pipe.
func read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, syscall.EISDIR
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("is %s, not a file", statefile.Kind(info.Mode()))
	case info.Size() > limit:
		return nil, tooLarge(limit)
	}
	f, err := statefile.OpenShared(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, tooLarge(limit)
	}
	return text, err
}

func unreadable(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file; check the path"
	case errors.Is(err, fs.ErrPermission):
		return "reading it is not permitted; check its owner and mode"
	case errors.Is(err, syscall.EISDIR):
		return "is a directory; name the settings file inside it"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}
