package serena

import (
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
	const layout = "2006-01-02 15:04:05,000"
	var rest string
	r.Level, rest, ok = strings.Cut(message, " ")
	rest = strings.TrimLeft(rest, " ")
	if !ok || r.Level == "" || len(rest) < len(layout) {
		return Record{}, false
	}
	at, err := time.ParseInLocation(layout, rest[:len(layout)], time.Local)
	thread, bracketed := strings.CutPrefix(rest[len(layout):], " [")
	if err != nil || !bracketed {
		return Record{}, false
	}
	r.At = at
	if r.Thread, rest, ok = strings.Cut(thread, "]"); !ok {
		return Record{}, false
	}
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

// lastTask returns when the newest log message of a tool call was written,
// zero when there is none.
func lastTask(messages []string) time.Time {
	for i := len(messages) - 1; i >= 0; i-- {
		if r, ok := parseRecord(messages[i]); ok && strings.HasPrefix(r.Thread, "Task-") && IsToolCall(r.Thread) {
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
func IsToolCall(task string) bool {
	_, name, ok := strings.Cut(task, ":")
	return ok && strings.HasSuffix(name, "Tool")
}
