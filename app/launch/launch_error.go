package launch

import (
	"errors"
	"fmt"
	"strings"

	"lamplighter/monitor"
)

// ErrNoProject says that a server for all could serve nobody, because the project
// it is for was not to be had. Once it is, the next start succeeds.
var ErrNoProject = errors.New("its project is not there")

// StartError says why a server was not started. Nothing of it is left running,
// unless Why says so.
type StartError struct {
	Server string    // the name of its template
	Chosen Candidate // the command that was run; empty when none was
	Why    string    // a sentence without its end, safe to show
	Stderr []string  // the last lines that it printed, cleaned
	Tried  []Verdict // the commands that would not do
	Err    error     // what is behind it, or nil
}

// shownLines is how many of the last lines an error shows, and shownLength how
// long each of them may be, in bytes.
const (
	shownLines  = 10
	shownLength = 300
)

// TriedMark stands in an Error before each of the commands that were tried, for
// those who have more than a line to show them.
const TriedMark = " • "

// Error is one line: why, the last lines that were printed, and the commands
// that were tried.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "starting %s: ", monitor.Clean(e.Server))
	if len(e.Chosen.Command) > 0 {
		fmt.Fprintf(&b, "%s (%s): ", monitor.Quoted(e.Chosen.Command), e.Chosen.Source)
	}
	b.WriteString(strings.TrimSuffix(e.Why, "."))
	if len(e.Stderr) > 0 {
		fmt.Fprintf(&b, ". Its last lines: %s", strings.Join(e.Stderr, " | "))
	}
	switch {
	case len(e.Tried) > 0 && len(e.Chosen.Command) > 0:
		b.WriteString(". Tried before:")
	case len(e.Tried) > 0:
		b.WriteString("; lamplighter doctor explains it. Tried:")
	}
	for _, v := range e.Tried {
		fmt.Fprintf(&b, TriedMark+"%s (%s): %s", monitor.Quoted(v.Command), v.Source, strings.TrimSuffix(monitor.Clean(v.Detail), "."))
	}
	return b.String()
}

// Unwrap returns what is behind it.
func (e *StartError) Unwrap() error { return e.Err }

// printedLines are the last lines of what a server printed, fit to be shown.
func printedLines(output string) []string {
	var lines []string
	for line := range strings.Lines(output) {
		if line = monitor.Clean(line); line != "" {
			lines = append(lines, shorten(line, shownLength))
		}
	}
	return lines[max(len(lines)-shownLines, 0):]
}

// shorten cuts a text to at most limit bytes, at the end of a character.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// loggedErrors are the lines by which Serena logs an error.
func loggedErrors(output string) string {
	var logged strings.Builder
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "ERROR ") {
			logged.WriteString(line)
		}
	}
	return logged.String()
}
