package launch

import (
	"crypto/rand"
	"slices"
	"strconv"
	"strings"

	"lamplighter/monitor"
)

const (
	mostLines = 10  // of what a program said
	mostLine  = 300 // characters
)

// newMark returns a text that nothing else says.
func newMark() string { return "lamplighter-" + rand.Text() }

// lastSaid returns the last lines that say something, at most n, fit to show.
func lastSaid(text string, n int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		// What was overwritten in place, as by a progress bar, is not seen either.
		line = strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if line = monitor.Shorten(monitor.Clean(line), mostLine); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
		if len(lines) > n {
			lines = slices.Delete(lines, 0, 1)
		}
	}
	return lines
}

// Setting is the line of the settings file that names a candidate.
func (c Candidate) Setting() string { return "session_command: " + flow(c.Command) }

// flow writes a command as the settings file takes it.
func flow(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = strconv.Quote(word)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
