package inuse

import (
	"strconv"
	"strings"
)

// parseLsof finds in what lsof says the processes that work inside dir. See
// "OUTPUT FOR OTHER PROGRAMS" in lsof(8): a line begins with the letter of its field,
// p (pid), c (command), f (file descriptor: a number, or cwd, rtd, txt, mem) and n
// (name). Of self only numbered files count, and not dir and directories in it.
func parseLsof(text, dir string, self int, isDir func(string) bool) []Process {
	var found []Process
	var at Process
	descriptor, done := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		value := line[1:]
		switch line[0] {
		case 'p':
			pid, err := strconv.Atoi(value)
			at, descriptor, done = Process{PID: pid}, "", err != nil || pid <= 0
		case 'c':
			at.Name = value
		case 'f':
			descriptor = value
		case 'n':
			if done || at.PID == 0 {
				continue
			}
			if _, ok := below(value, dir); !ok {
				continue
			}
			how := ""
			switch descriptor {
			case "cwd":
				how = worksIn(value)
			case "rtd":
				how = rootedIn(value)
			case "txt":
				how = runs(value)
			default:
				how = hasOpen(value)
			}
			if at.PID == self && (descriptor == "" || descriptor[0] < '0' || descriptor[0] > '9' || isDir(value)) {
				continue
			}
			at.How, done = how, true
			found = append(found, at)
		}
	}
	return found
}
