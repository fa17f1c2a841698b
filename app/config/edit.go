package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lamplighter/monitor/rules"
	"lamplighter/monitor/statefile"
)

// SetIdle writes into the settings file at path after how long a server ends that
// nobody has called, 0 for never, and whether one does whose client is connected.
// All else in the file stays as it is, comments too; where that cannot be, nothing
// is changed. The error is a sentence for people.
func SetIdle(path string, after time.Duration, attached bool) error {
	minutes, action := none, ActionNotify
	if after > 0 {
		minutes = strconv.FormatFloat(after.Minutes(), 'f', -1, 64)
	}
	if attached {
		action = ActionStop
	}
	return change(path, "idle_shutdown_minutes: "+minutes, func(text []byte, want *Settings) []byte {
		want.IdleShutdownMinutes = new(Minutes(after))
		text = withLine(text, "idle_shutdown_minutes", minutes)
		if attached || want.IdleShutdownAttached != "" {
			want.IdleShutdownAttached = action
			text = withLine(text, "idle_shutdown_attached", string(action))
		}
		return text
	})
}

// AddServer writes a rule for a server into the settings, before the others, as
// SetIdle writes.
func AddServer(path string, r rules.Rule) error {
	item := []string{"- name: " + quoted(r.Name), "  program: " + quoted(r.Program)}
	if len(r.Arguments) > 0 {
		var words []string
		for _, a := range r.Arguments {
			words = append(words, quoted(a))
		}
		item = append(item, "  arguments: ["+strings.Join(words, ", ")+"]")
	}
	if r.Hidden {
		item = append(item, "  hidden: true")
	}
	indented := func(indent string) string { return indent + strings.Join(item, "\n"+indent) + "\n" }
	return change(path, "below servers:\n"+indented("  "), func(text []byte, want *Settings) []byte {
		want.Servers = append([]rules.Rule{r}, want.Servers...)
		list := regexp.MustCompile(`(?m)^servers:[ \t]*(#[^\r\n]*)?\r?\n((?:[ \t]*(?:#[^\n]*)?\r?\n)*)([ \t]*)- `)
		if at := list.FindSubmatchIndex(text); at != nil {
			return slices.Concat(text[:at[6]], []byte(indented(string(text[at[6]:at[7]]))), text[at[6]:])
		}
		if n := len(text); n > 0 && text[n-1] != '\n' {
			text = append(text, '\n')
		}
		return append(text, "servers:\n"+indented("  ")...)
	})
}

// quoted is a text as JSON, and so YAML, has it.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string
	return string(b)
}

// changing is held by who edits the settings file, of which the background process is the
// only one of ours: several may ask it at once.
var changing sync.Mutex

// change edits the settings file: edit returns the new text, and says in want what it
// is to mean. Where it would mean anything else nothing is written, and the error asks
// to write line by hand.
func change(path, line string, edit func(text []byte, want *Settings) []byte) error {
	changing.Lock()
	defer changing.Unlock()
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
	text = edit(text, &want)
	got, problems := parse(text)
	switch {
	case len(problems) > 0:
		return &FileError{Path: path, Problems: problems}
	case !reflect.DeepEqual(got, want):
		return fmt.Errorf("%s is written in a way that cannot be changed from here: write %s into it", path, line)
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
