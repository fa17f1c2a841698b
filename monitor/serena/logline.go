package serena

import (
	"strconv"
	"strings"
	"time"
)

// lastTask returns when the newest log message of a tool call was written,
// zero when there is none. Serena stamps its messages in local time without a
// zone: "INFO  2026-11-20 23:05:01,123 [Task-22:FindSymbolTool] …".
func lastTask(messages []string) time.Time {
	for i := len(messages) - 1; i >= 0; i-- {
		level, rest, ok := strings.Cut(messages[i], " ")
		if !ok || level == "" {
			continue
		}
		rest = strings.TrimLeft(rest, " ")
		const layout = "2006-01-02 15:04:05,000"
		if len(rest) < len(layout) {
			continue
		}
		thread, ok := strings.CutPrefix(rest[len(layout):], " [Task-")
		if !ok {
			continue
		}
		task, _, ok := strings.Cut(thread, "]")
		if !ok || !IsToolCall("Task-"+task) {
			continue
		}
		if at, err := time.ParseInLocation(layout, rest[:len(layout)], time.Local); err == nil {
			return at
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
