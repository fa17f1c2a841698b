package dashboard

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Route is one that is forwarded to an instance, by the name that Serena and
// R3 share.
type Route struct{ Method, Name string }

// Ends reports whether an instance ends by it.
func (r Route) Ends() bool {
	rule, known := ruleOf(r)
	return known && rule.ends
}

// Routes are all that are forwarded, and nothing else is: Serena's own page has
// more, such as its settings file, and stays one click away.
func Routes() []Route {
	list := make([]Route, len(rules))
	for i := range rules {
		list[i] = rules[i].Route
	}
	return list
}

// rule says how a route is forwarded.
type rule struct {
	Route
	fields []field // of the JSON object that it takes; none = it takes no body
	// changes is set where something is other than before afterwards. Such a
	// request is sent once for each that asks, and is not taken back.
	changes bool
	// queues is set where the answer waits in Serena's queue of tasks, behind
	// the tool that runs.
	queues bool
	// ends is set where the instance ends, which is an answer too.
	ends bool
}

// The limits of one request, beside Limits.
const (
	// queueTime is what one may take that waits for the tool that runs. Most
	// calls end within it, and nobody looks at a page much longer.
	queueTime = 30 * time.Second

	maxAnswer    = 4 << 20  // bytes; the longest memory fits
	maxLogAnswer = 64 << 20 // an instance hands out its whole log in one answer
)

var rules = []rule{
	{Route: Route{"POST", "get_log_messages"}, fields: []field{{"start_idx", number}}},
	{Route: Route{"GET", "get_tool_names"}},
	{Route: Route{"GET", "get_tool_stats"}},
	{Route: Route{"POST", "clear_tool_stats"}, changes: true},
	{Route: Route{"GET", "get_token_count_estimator_name"}},
	{Route: Route{"GET", overviewName}},
	{Route: Route{"GET", "queued_task_executions"}},
	{Route: Route{"GET", "last_execution"}},
	{Route: Route{"POST", "cancel_task_execution"}, fields: []field{{"task_id", number}}, changes: true},
	{Route: Route{"PUT", "shutdown"}, changes: true, ends: true},

	{Route: Route{"GET", "get_available_languages"}, queues: true},
	{Route: Route{"POST", "add_language"}, fields: []field{{"language", word}}, changes: true, queues: true},
	{Route: Route{"POST", "remove_language"}, fields: []field{{"language", word}}, changes: true, queues: true},
	{Route: Route{"POST", "get_memory"}, fields: []field{{"memory_name", word}}, queues: true},
	{Route: Route{"POST", "save_memory"}, fields: []field{{"memory_name", word}, {"content", prose}}, changes: true, queues: true},
	{Route: Route{"POST", "delete_memory"}, fields: []field{{"memory_name", word}}, changes: true, queues: true},
	{Route: Route{"POST", "rename_memory"}, fields: []field{{"old_name", word}, {"new_name", word}}, changes: true, queues: true},
}

const overviewName = "get_config_overview"

// ruleOf is the rule of a route, and whether there is one.
func ruleOf(route Route) (rule, bool) {
	for _, r := range rules {
		if r.Route == route {
			return r, true
		}
	}
	return rule{}, false
}

// patience is how long somebody who asks is kept waiting.
func (p *Proxy) patience(r rule) time.Duration {
	if r.queues {
		return queueTime
	}
	return p.quick
}

// limit is how long the instance may take. It is longer than the patience where
// a question that is given up stays in the queue of the instance, so that asking
// again would only lengthen it: who asks again waits for the first answer.
func (p *Proxy) limit(r rule, version string) time.Duration {
	if r.lingers(version) {
		return queueTime
	}
	return p.patience(r)
}

// lingers is true of the overview up to Serena 1.5.3, which is a task there.
// Until its version is known an instance counts as an old one.
func (r rule) lingers(version string) bool {
	return r.Name == overviewName && !atLeast(version, 1, 6)
}

// largest is how many bytes an answer may have.
func (r rule) largest() int64 {
	if r.Name == "get_log_messages" {
		return maxLogAnswer
	}
	return maxAnswer
}

// atLeast compares a version such as "1.5.3" or "2.1.0-abcdef". What is not a
// version is less than any.
func atLeast(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	b, err := strconv.Atoi(second)
	if err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

// unsent is a failure from before anything was sent. A late answer to a change
// means that it may have happened: one that surely has not is no 504.
func (r rule) unsent(f *failure) *failure {
	if f != nil && r.changes && f.status == http.StatusGatewayTimeout {
		return &failure{http.StatusConflict, f.text}
	}
	return f
}
