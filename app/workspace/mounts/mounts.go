// Package mounts reads what Linux tells of the mounts of a process. It decides
// nothing, and opens no file: the text is handed to it.
package mounts

import (
	"iter"
	"strings"
)

// Mount is one line of a /proc/PID/mountinfo. Root and At need not be paths: a
// namespace has none.
type Mount struct {
	Device  string // major:minor
	Root    string // what of the file system is mounted
	At      string // where
	Options string // of this mount, separated by commas
}

// All gives the mounts of a table in its order, so that of two at one place the
// later one is seen. Lines that are not understood are left out.
//
// Source: proc_pid_mountinfo(5), and show_mountinfo in fs/proc_namespace.c of
// Linux: blanks, tabs, line feeds and backslashes are escaped, and no other white
// space, such as a no-break space.
func All(table string) iter.Seq[Mount] {
	return func(yield func(Mount) bool) {
		for line := range strings.Lines(table) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
			if len(fields) < 6 {
				continue
			}
			if !yield(Mount{Device: fields[2], Root: unescape(fields[3]), At: unescape(fields[4]), Options: fields[5]}) {
				return
			}
		}
	}
}

// unescape reads \040 and its like.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) && octal(text[i+1]) && text[i+1] < '4' && octal(text[i+2]) && octal(text[i+3]) {
			b.WriteByte((text[i+1]-'0')<<6 | (text[i+2]-'0')<<3 | (text[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func octal(c byte) bool { return '0' <= c && c <= '7' }
