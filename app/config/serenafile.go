package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"lamplighter/monitor/statefile"
)

// SerenaFile is the name of Serena's own settings file in its directory. Serena
// tolerates and keeps settings in it that it does not know (serena/config/
// serena_config.py, 1.5.3 to 2.1.0), so ours may stand there. We never write it.
const SerenaFile = "serena_config.yml"

// What is read of Serena's file: far more than it ever has. The time that the
// YAML parser needs grows with the square of a line's length.
const (
	maxSerenaSize   = 256 << 10 // bytes
	maxSerenaLine   = 8 << 10   // bytes
	maxSerenaSearch = 16 << 20  // bytes of a larger file in which our names are looked for
)

// serenaNames are how the names of all our settings begin.
var serenaNames = [...]string{"web_dashboard_global", "idle_shutdown_minutes"}

// parseSerena reads the settings that are ours from the text of Serena's file.
// Everything else in it is Serena's business and not looked at: a text without
// one of our names has no problem. What cannot be read is as it was before, each
// setting by itself, or all of them where the whole text cannot be read. What is
// null counts as not said.
func parseSerena(text []byte, before Layer) (Layer, []Problem) {
	if !speaksToUs(text) {
		return Layer{}, nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if p := notSerenaText(text); p != nil {
		return before, []Problem{*p}
	}
	body, p := document(text)
	if p != nil {
		return before, []Problem{*p}
	}
	var layer Layer
	if body == nil {
		return layer, nil
	}
	var problems []Problem
	names, fields := settingsOf(reflect.ValueOf(&layer).Elem())
	_, kept := settingsOf(reflect.ValueOf(&before).Elem())
	for _, entry := range body.Values {
		key := keyName(entry)
		i := slices.Index(names, key)
		if i < 0 {
			continue
		}
		if _, null := entry.Value.(*ast.NullNode); null || entry.Value == nil {
			continue
		}
		if wrong := set(fields[i], key, line(entry.Key), entry.Value); len(wrong) > 0 {
			problems = append(problems, wrong...)
			fields[i].Set(kept[i])
		}
	}
	return layer, problems
}

// speaksToUs reports whether one of our names stands in a text, also in one that
// is written in UTF-16.
func speaksToUs(text []byte) bool {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	return namesUs(text)
}

func namesUs(text []byte) bool {
	for _, name := range serenaNames {
		if bytes.Contains(text, []byte(name)) {
			return true
		}
	}
	return false
}

// notSerenaText is notText that also refuses long lines.
func notSerenaText(text []byte) *Problem {
	number := 0
	for l := range bytes.Lines(text) {
		if number++; len(l) > maxSerenaLine {
			return &Problem{Line: number, Text: fmt.Sprintf("the line is longer than %d KiB, so this is not a settings file", maxSerenaLine>>10)}
		}
	}
	return notText(text)
}

// SerenaWatcher notices when Serena's file changes what it says of our
// settings. Make one with NewSerenaWatcher. Load is for before Serve, and
// neither for two goroutines at once.
type SerenaWatcher struct {
	following
	changed func(Layer, error)

	layer   Layer  // what holds: what the file says, or said when it could be read last
	problem string // with the file as it is now, empty when there is none
}

// NewSerenaWatcher watches the settings file in Serena's directory, which need not
// exist; an empty home has none. changed gets what holds each time that is
// something else than before, with a *FileError about what the file says
// wrongly: of that the last good settings stay. It is called by the goroutine of
// Serve, which waits for it.
func NewSerenaWatcher(home string, changed func(Layer, error)) *SerenaWatcher {
	path := ""
	if home != "" {
		path = filepath.Join(home, SerenaFile)
	}
	return &SerenaWatcher{following: newFollowing(path), changed: changed}
}

// Load reads the file, and takes what it finds as that which changes are told
// from. What it returns can always be used, also together with a *FileError.
func (w *SerenaWatcher) Load() (Layer, error) {
	if w.path == "" {
		return Layer{}, nil
	}
	text, err := readSerena(w.path)
	layer, err := judgeSerena(w.path, text, err, w.layer)
	w.layer, w.problem = layer, errorText(err)
	return layer, err
}

// Serve watches until ctx ends, as that of Watcher does.
func (w *SerenaWatcher) Serve(ctx context.Context) error {
	return w.serve(ctx, func() {
		layer, problem := w.layer, w.problem
		now, err := w.Load()
		if w.problem != problem || !reflect.DeepEqual(now, layer) {
			w.changed(now, err)
		}
	})
}

// readSerena reads the file at path. One that is too large and says nothing to
// us is as good as an empty one.
func readSerena(path string) ([]byte, error) {
	text, err := read(path, maxSerenaSize)
	var large tooLarge
	if !errors.As(err, &large) {
		return text, err
	}
	f, openErr := statefile.OpenShared(path)
	if openErr != nil {
		return nil, openErr
	}
	defer f.Close()
	switch found, searchErr := searchForUs(io.LimitReader(f, maxSerenaSearch)); {
	case searchErr != nil:
		return nil, searchErr
	case found:
		return nil, large
	}
	return nil, nil
}

// searchForUs reports whether one of our names stands in what r gives, which is not
// kept in memory.
func searchForUs(r io.Reader) (bool, error) {
	longest := 0
	for _, name := range serenaNames {
		longest = max(longest, len(name))
	}
	buffer := make([]byte, 64<<10)
	held := 0 // bytes in it, of which the last ones may be the beginning of a name
	for {
		n, err := r.Read(buffer[held:])
		held += n
		switch {
		case namesUs(buffer[:held]):
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		}
		keep := min(held, longest-1)
		copy(buffer, buffer[held-keep:held])
		held = keep
	}
}

// judgeSerena makes a layer of what reading the file at path gave, and of the
// one that held before.
func judgeSerena(path string, text []byte, err error, before Layer) (Layer, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return Layer{}, nil
	}
	if err != nil {
		return before, &FileError{Path: path, Problems: []Problem{{Text: unreadable(err)}}}
	}
	layer, problems := parseSerena(text, before)
	if len(problems) > 0 {
		return layer, &FileError{Path: path, Problems: problems}
	}
	return layer, nil
}
