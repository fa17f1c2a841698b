package tray

import (
	"fmt"
	"strings"
	"time"

	"lamplighter/monitor"
)

// The widths, in columns, that text is shortened to.
const (
	labelColumns   = 60 // an entry; panels cut longer ones at the wrong end
	nameColumns    = 12 // what a project name keeps at least
	stopColumns    = 70 // an entry that says what stopping it would lose
	keepColumns    = 70 // an entry that says what becomes of it if it is not kept
	ruleColumns    = 60 // a rule of the policies
	clientColumns  = 14 // the name of a client there
	clientsColumns = 34 // the clients that share it
	recentColumns  = 70 // an event
	eventColumns   = 32 // the instance it is about
	refusedColumns = 20 // that instance at least, where it is said why it was not ended
	detailColumns  = 13 // what is shown of its detail at least, with what joins it, else nothing
	warningColumns = 70
)

// megabyte is what people and desktops mean by MB.
const megabyte = 1_000_000

// Memory is shown in steps, and what is shown stays until the measured value
// is clearly away from it, so that a quiet machine does not repaint. The steps
// grow with the value: what is shown is off by at most a fifth, or by 4 MB.
const (
	leastMemory = 10 // MB, the least that is told as a number
	underLeast  = 1  // MB, stands for less
)

// memoryStep is how coarse memory is told around so many MB.
func memoryStep(mb int) int {
	switch {
	case mb < 50:
		return 5
	case mb < 100:
		return 10
	case mb < 200:
		return 25
	case mb < 1000:
		return 50
	}
	return 100
}

// quantise rounds bytes to the MB that are shown, given the MB shown before
// (0 for none), which stay while they are off by at most 15 %, or 4 MB. Unknown
// memory, 0 bytes, stays 0.
func quantise(bytes uint64, before int) int {
	if bytes == 0 {
		return 0
	}
	mb := int(min(bytes, 1<<50) / megabyte)
	if slip := max(before*15/100, 4); before >= leastMemory && mb-before <= slip && before-mb <= slip {
		return before
	}
	if mb < leastMemory {
		return underLeast
	}
	step := memoryStep(mb)
	return (mb + step/2) / step * step
}

// memoryWords is empty for 0.
func memoryWords(mb int) string {
	switch mb {
	case 0:
		return ""
	case underLeast:
		return fmt.Sprintf("under %d MB", leastMemory)
	}
	return monitor.Memory(mb * megabyte)
}

// idleWords tells an idle time: by 5 minutes in the first hour, by hours for two days,
// then by days. Below the first step it is empty.
func idleWords(text string, d time.Duration) string {
	step := 24 * time.Hour
	switch {
	case d < 5*time.Minute:
		return ""
	case d < time.Hour:
		step = 5 * time.Minute
	case d < 48*time.Hour:
		step = time.Hour
	}
	return text + " " + monitor.Span(d.Truncate(step))
}

// title joins a label such as "4711 - alpha", which ends in name, with the
// words after it. The name gives way when all together is wider than columns.
func title(columns int, label, name string, words ...string) string {
	head, rest := strings.TrimSuffix(label, name), ""
	room := columns - monitor.Columns(head)
	for _, w := range words {
		if w != "" {
			rest += " · " + w
			room -= 3 + monitor.Columns(w)
		}
	}
	return head + monitor.Shorten(name, max(room, nameColumns)) + rest
}

// escape keeps a label as it is written: desktops read one character as the
// mark of a keyboard shortcut. goos is a runtime.GOOS.
func escape(goos, label string) string {
	switch goos {
	case "darwin":
		return label
	case "windows":
		return strings.ReplaceAll(label, "&", "&&")
	}
	return strings.ReplaceAll(label, "_", "__")
}
