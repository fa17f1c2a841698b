package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// autostart is one thing that would start lamplighter at login.
type autostart struct {
	kind    string // in words: "systemd user unit"
	path    string // where it stands
	on      bool   // it is switched on
	enable  string // how to switch it on, as a sentence
	program string // what it starts, "" when it could not be told
	missing error  // why that cannot be started
	err     error  // it cannot be read
}

func judgeAutostart(list []autostart) []Line {
	var lines []Line
	started := false
	for _, a := range list {
		at := fmt.Sprintf("%s %s", a.kind, a.path)
		switch {
		case a.err != nil:
			lines = append(lines, Line{Mark: Warn, Text: fmt.Sprintf("%s cannot be read: %v", at, reason(a.err))})
		case !a.on:
			lines = append(lines, Line{Mark: Warn, Text: at + " is there, but switched off", Do: a.enable})
		case errors.Is(a.missing, fs.ErrNotExist):
			started = true
			lines = append(lines, Line{
				Mark: Broken, Text: fmt.Sprintf("%s starts %s, which is not there", at, a.program), Means: "Lamplighter does not start at login.",
				Do: "Correct the path in it, or delete it.",
			})
		case a.missing != nil:
			started = true
			lines = append(lines, Line{
				Mark: Broken, Text: fmt.Sprintf("%s starts %s, which cannot be run: %v", at, a.program, reason(a.missing)), Means: "Lamplighter does not start at login.",
				Do: "Make it executable.",
			})
		default:
			started = true
			lines = append(lines, Line{Mark: OK, Text: at + " starts it"})
		}
	}
	if !started {
		lines = append(lines, Line{
			Mark: Warn, Text: "lamplighter does not start at login", Means: "That is no fault: it runs when you start it.", Do: toAutostart,
		})
	}
	return lines
}

// firstWord is the program of a command line. It may be quoted; on Windows its
// path may have spaces without that.
func firstWord(line string) string {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, `"`); ok {
		word, _, _ := strings.Cut(rest, `"`)
		return word
	}
	if i := strings.Index(strings.ToLower(line), ".exe"); i >= 0 {
		return line[:i+len(".exe")]
	}
	word, _, _ := strings.Cut(line, " ")
	return word
}
