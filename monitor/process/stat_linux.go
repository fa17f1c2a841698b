package process

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
)

// The fields of /proc/PID/stat that are read, counted from 1 as in proc(5).
const (
	fieldState      = 3
	fieldParent     = 4
	fieldSession    = 6
	fieldUserTime   = 14
	fieldSystemTime = 15
	fieldThreads    = 20
	fieldStart      = 22
	fieldStartCode  = 26
	fieldEndCode    = 27
	fieldStartStack = 28
)

// tick is the unit of times in /proc: USER_HZ, which the kernel's interface
// fixes at 100 on every architecture that Go supports.
const tick = time.Second / 100

// ticks is n ticks as a duration; nonsense becomes a very long one, of which
// two can still be added.
func ticks(n uint64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/4/uint64(tick))) * tick
}

// procStat is one line of /proc/PID/stat.
type procStat struct {
	Stat
	comm    string
	program program
}

// program is what differs between one program and the next under the same pid: when the
// process started, in ticks since boot, and where the kernel put code and stack. Only
// running a new program moves them, so together they tell an exec from a process that
// merely rewrites its title. They are zero for a process without memory of its own
// (kernel threads, zombies), and mean nothing where we may not see them.
type program struct{ start, startCode, endCode, startStack uint64 }

// parseStat reads the text of /proc/PID/stat. The name in parentheses may hold
// anything, parentheses, spaces and newlines too, hence the *last* ")".
func parseStat(line string) (procStat, error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return procStat{}, fmt.Errorf("not a process stat line: %.60q", line)
	}
	pid, ok := number(strings.TrimSpace(line[:open]))
	if !ok || pid == 0 || pid > math.MaxInt32 {
		return procStat{}, fmt.Errorf("not a process stat line, bad pid: %.60q", line)
	}

	field := fieldState
	var state byte
	var values [fieldStartStack + 1]uint64
	for text := range strings.FieldsSeq(line[end+1:]) {
		switch field {
		case fieldState:
			state = text[0]
		case fieldSession:
			values[field], _ = number(text) // -1 while a process ends
		case fieldParent, fieldUserTime, fieldSystemTime, fieldThreads, fieldStart, fieldStartCode, fieldEndCode, fieldStartStack:
			if values[field], ok = number(text); !ok || field == fieldParent && values[field] > math.MaxInt32 {
				return procStat{}, fmt.Errorf("not a process stat line, field %d is %.20q", field, text)
			}
		}
		if field++; field > fieldStartStack {
			break
		}
	}
	if field <= fieldStart {
		return procStat{}, fmt.Errorf("process stat line ends after %d fields", field-1)
	}
	return procStat{
		Stat: Stat{
			Identity: monitor.Identity{PID: int(pid), Start: values[fieldStart]}, Parent: int(values[fieldParent]),
			Session: int(values[fieldSession]), State: runState(state, values[fieldThreads]), CPU: ticks(values[fieldUserTime]) + ticks(values[fieldSystemTime]),
		},
		comm:    line[open+1 : end],
		program: program{values[fieldStart], values[fieldStartCode], values[fieldEndCode], values[fieldStartStack]},
	}, nil
}

func number(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}

// runState translates the letter of the state. A process whose first thread
// has ended shows Z although its others go on: it lives.
func runState(state byte, threads uint64) RunState {
	switch {
	case state == 'T':
		return Stopped
	case (state == 'Z' || state == 'X' || state == 'x') && threads <= 1:
		return Unreaped
	}
	return Running
}

// parseCmdline splits /proc/PID/cmdline into arguments. The last one may lack
// its NUL (a rewritten title, or the end of what is read). A process that has
// rewritten its title leaves one string with spaces and fills the old space up
// with NULs: that is one argument.
func parseCmdline(b []byte) []string {
	all := strings.TrimSuffix(string(b), "\x00") // the arguments share it
	if first, rest, _ := strings.Cut(all, "\x00"); strings.Trim(rest, "\x00") == "" {
		if first == "" {
			return nil
		}
		if strings.Contains(first, " ") {
			return []string{first}
		}
	}
	return strings.Split(all, "\x00")
}
