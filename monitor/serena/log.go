package serena

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
)

// Record is one message of Serena's log.
type Record struct {
	Level  string // "ERROR"
	At     time.Time
	Thread string // "Task-22:FindSymbolTool"
	Where  string // logger and function: "serena.task_executor:run_task"
	Text   string // with the lines of a traceback
}

// parseRecord reads a message. Serena stamps them in local time without a zone:
// "INFO  2026-11-20 23:05:01,123 [Task-22:FindSymbolTool] serena.agent:start:336 - …".
func parseRecord(message string) (r Record, ok bool) {
	level, rest, _ := strings.Cut(message, " ")
	stamp, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " [")
	thread, rest, closed := strings.Cut(rest, "]")
	at, err := time.ParseInLocation("2006-01-02 15:04:05,000", stamp, time.Local)
	if level == "" || err != nil || !closed {
		return Record{}, false
	}
	r = Record{Level: level, At: at, Thread: thread}
	if where, text, found := strings.Cut(strings.TrimPrefix(rest, " "), " - "); found {
		r.Text = text
		r.Where = where[:max(strings.LastIndexByte(where, ':'), 0)] // without the line
	}
	return r, true
}

// maxLine is how much of a record is shown, in columns.
const maxLine = 240

// String is the record in one line, which is safe to show.
func (r *Record) String() string {
	text, _, _ := strings.Cut(r.Text, "\n")
	return monitor.Shorten(monitor.Clean(r.Level+" ["+r.Thread+"] "+r.Where+" - "+text), maxLine)
}

// LastCall is when a tool was last at work by these records, zero when they do not tell.
func LastCall(records []Record) time.Time {
	for _, r := range slices.Backward(records) {
		if strings.HasPrefix(r.Thread, "Task-") && IsToolCall(r.Thread) {
			return r.At
		}
	}
	return time.Time{}
}

// TaskNumber is that of a task, by its name such as "Task-22:FindSymbolTool": a
// server numbers all that it does from 1. It is 0 for a name without one.
func TaskNumber(task string) int64 {
	name, _, _ := strings.Cut(task, ":")
	number, err := strconv.ParseInt(strings.TrimPrefix(name, "Task-"), 10, 64)
	if err != nil || number < 0 {
		return 0
	}
	return number
}

// IsToolCall reports whether a task, by its name such as "Task-22:FindSymbolTool",
// is a call of a client and not something Serena or its own page asked for,
// such as "Task-1:init_project_services".
func IsToolCall(task string) bool { return strings.HasSuffix(toolOf(task), "Tool") }

// toolOf is the class of the tool that a task calls.
func toolOf(task string) string {
	_, tool, _ := strings.Cut(task, ":")
	return tool
}

// claimOf is the problem of a Serena that does not have the port which it has chosen for its
// dashboard by this record, nil for a record of anything else.
func claimOf(r Record) *monitor.Problem {
	_, said, _ := strings.Cut(r.Text, "Starting dashboard (")
	_, port, named := strings.Cut(said, "port=")
	if !named || r.Where != "serena.dashboard:run_in_thread" {
		return nil
	}
	p := &monitor.Problem{Cause: monitor.CauseNoDashboard, Evidence: []string{r.String()}, Since: r.At}
	if _, err := fmt.Sscanf(port, "%d", &p.Port); err != nil {
		return nil
	}
	return p
}

// claimWithin is how much of a log file is read. The claim stands at its beginning.
const claimWithin = 256 << 10

// ReadClaim reads from the log file of a Serena, in the directory where Serena keeps
// all that is its user's, which port it has chosen for its dashboard: as the problem that
// it has when another process listens there, without a Reason. The file has the
// pid in its name, and the time at which the process started, less than a minute late. Of one
// that cannot be read, or does not say, it is nil.
func ReadClaim(home string, pid int, started time.Time) *monitor.Problem {
	files, _ := filepath.Glob(filepath.Join(home, "logs", started.Local().Format(time.DateOnly), fmt.Sprintf("mcp_*_%d.txt", pid)))
	for _, name := range files {
		at, err := time.ParseInLocation("20060102-150405", strings.Split(filepath.Base(name), "_")[1], time.Local)
		if err != nil || at.Sub(started).Abs() > time.Minute {
			continue // of an earlier process with this pid
		}
		file, err := os.Open(name)
		if err != nil {
			continue
		}
		defer file.Close()
		for lines := bufio.NewScanner(io.LimitReader(file, claimWithin)); lines.Scan(); {
			r, _ := parseRecord(lines.Text())
			if claim := claimOf(r); claim != nil {
				return claim
			}
		}
	}
	return nil
}

// secondsIn is the number of seconds at the beginning of a text, 0 for none that makes sense.
func secondsIn(text string) time.Duration {
	var seconds float64
	if _, err := fmt.Sscanf(text, "%f", &seconds); err != nil || !(seconds > 0 && seconds < 1e6) {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// ToolTimeout is how long a tool call may take by the settings in that directory, 0
// when they do not say.
func ToolTimeout(home string) time.Duration {
	data, _ := os.ReadFile(filepath.Join(home, "serena_config.yml")) // what cannot be read does not say
	for line := range strings.Lines(string(data)) {
		if text, found := strings.CutPrefix(line, "tool_timeout:"); found && secondsIn(text) > 0 {
			return secondsIn(text)
		}
	}
	return 0
}
