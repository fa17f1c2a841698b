package workspace

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
)

// Words tell progress in a line: "copying: 45 %, 1.2 GB of 2.6 GB, 12 s left".
func (p Progress) Words() string {
	if p.Phase == Waiting {
		return "waiting for a place"
	}
	var parts []string
	if p.Percent >= 0 {
		parts = append(parts, strconv.Itoa(p.Percent)+" %")
	}
	switch {
	case p.BytesTotal > 0:
		parts = append(parts, monitor.Memory(p.Bytes)+" of "+monitor.Memory(p.BytesTotal))
	case p.FilesTotal > 0:
		parts = append(parts, fmt.Sprintf("%d of %d files", p.Files, p.FilesTotal))
	case p.Percent < 0 && p.Files > 0:
		parts = append(parts, monitor.Plural(int(p.Files), "file", "files"))
	}
	if p.Left >= 0 && p.Percent >= 0 && p.Percent < 100 {
		parts = append(parts, monitor.Span(p.Left)+" left")
	}
	if len(parts) == 0 {
		return string(p.Phase)
	}
	return string(p.Phase) + ": " + strings.Join(parts, ", ")
}

// mostHolders bounds how many workspaces are named in a sentence.
const mostHolders = 5

// Held says in a sentence who has the places, and when the next one will be free.
func (e *TooMany) Held(now time.Time) string {
	names := make([]string, 0, mostHolders+1)
	for i, w := range e.Holders {
		if i == mostHolders {
			names = append(names, fmt.Sprintf("and %d more", len(e.Holders)-i))
			break
		}
		names = append(names, w.Name)
	}
	text := strings.Join(names, ", ")
	if text != "" {
		text = "they are held by " + text + "; "
	}
	switch {
	case e.FreeAt == nil:
		return text + "none of them has an end that is known"
	case !e.FreeAt.After(now):
		return text + "one is due to be free now"
	}
	return text + "one is due to be free in " + monitor.Span(e.FreeAt.Sub(now))
}
