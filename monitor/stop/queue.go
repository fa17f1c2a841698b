package stop

import "lamplighter/monitor/serena"

// WorkIn tells from the queue of a dashboard whether a call runs or waits, and
// which one, safe to show. What a server gives itself to do is no call.
func WorkIn(tasks []serena.Task) (Work, string) {
	for _, task := range tasks {
		if !ownTask(task.Name) {
			return Busy, callName(task.Name)
		}
	}
	return Idle, ""
}
