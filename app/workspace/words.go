package workspace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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
		parts = append(parts, Size(p.Bytes)+" of "+Size(p.BytesTotal))
	case p.FilesTotal > 0:
		parts = append(parts, fmt.Sprintf("%d of %d files", p.Files, p.FilesTotal))
	case p.Percent < 0 && p.Files > 0:
		parts = append(parts, fmt.Sprintf("%d files", p.Files))
	}
	if p.Left >= 0 && p.Percent >= 0 && p.Percent < 100 {
		parts = append(parts, Span(p.Left)+" left")
	}
	if len(parts) == 0 {
		return string(p.Phase)
	}
	return string(p.Phase) + ": " + strings.Join(parts, ", ")
}

// Size tells bytes in powers of ten, as desktops do; a negative number is one that
// nobody knows.
func Size(bytes int64) string {
	if bytes < 0 {
		return "unknown"
	}
	value, unit := float64(bytes), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if value < 999.5 {
			break
		}
		value, unit = value/1000, next
	}
	if value < 9.95 && unit != "B" {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

// Freed tells how much is given back. Of a few bytes it says no more than that: what
// they take on a disk is another number anyway.
func Freed(bytes int64) string {
	if bytes < 1000 {
		return "less than 1 kB"
	}
	return Size(bytes)
}

// Span tells a length of time in its largest unit.
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(max(d, 0)/time.Second)) + " s"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + " d"
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
	return text + "one is due to be free in " + Span(e.FreeAt.Sub(now))
}
