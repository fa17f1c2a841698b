package serenatest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// scrubber takes out of answers what belongs to one machine or one moment: paths,
// pids, ports, times, ids, and most of a log.
type scrubber struct {
	paths []string       // old and new, in turn
	tasks map[string]int // ids of tasks, with their numbers
}

func newScrubber(tools, home string) *scrubber {
	s := &scrubber{tasks: map[string]int{}}
	s.replace(tools, "/tools")
	s.replace(home, "/home/user")
	return s
}

// replace replaces a path from now on.
func (s *scrubber) replace(path, by string) { s.paths = append([]string{path, by}, s.paths...) }

var moments = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d,\d{3}`), "2026-01-01${1}00:00:00,000"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(\.\d+)?`), "2026-01-01${1}00:00:00"},
	{regexp.MustCompile(`/logs/\d{4}-\d\d-\d\d/mcp_\d+-\d+_\d+\.txt`), "/logs/2026-01-01/mcp_20260101-000000_1.txt"},
	{regexp.MustCompile(`/python[\d.]+\b`), "/python"},
	{regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`), "${1}:24282"},
	{regexp.MustCompile(`(?i)(\bpid\W{0,3})\d+`), "${1}1"},
	{regexp.MustCompile(`(?i)(\bport\W{0,3})\d+`), "${1}24282"},
	{regexp.MustCompile(`\b\d+\.\d+( ?(?:s|ms|seconds)\b)`), "0.1${1}"},
	{regexp.MustCompile(`\b0x[0-9a-f]{6,}`), "0x1"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), strings.Repeat("0", 32)},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "00000000-0000-0000-0000-000000000000"},
	// Language servers start beside the answer to activate_project.
	{regexp.MustCompile(`(Active language servers: )(go)?\.`), "${1}go."},
	// Installed below a git repository, Serena adds that one's revision.
	{regexp.MustCompile(`\b(` + strings.ReplaceAll(strings.Join(Versions, "|"), ".", `\.`) + `)-[0-9a-f]+(-dirty)?`), "${1}"},
}

func (s *scrubber) text(text string) string {
	text = strings.NewReplacer(s.paths...).Replace(text)
	// In which order a directory is listed is the file system's.
	text = strings.ReplaceAll(text, `main.go\", \"go.mod`, `go.mod\", \"main.go`)
	for _, m := range moments {
		text = m.pattern.ReplaceAllString(text, m.by)
	}
	return text
}

// task learns which id a task has, an address in memory in some versions: what is
// kept is the number in its name, and 0 for one of the dashboard's own.
func (s *scrubber) task(name, id string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "Task-"), ":")
	s.tasks[id], _ = strconv.Atoi(number)
	return s.tasks[id]
}

// ask scrubs a request, which may name a task.
func (s *scrubber) ask(text string) string {
	return s.text(taskID.ReplaceAllStringFunc(text, func(member string) string {
		name, id, _ := strings.Cut(member, ":")
		if number, known := s.tasks[id]; known {
			id = strconv.Itoa(number)
		}
		return name + ":" + id
	}))
}

var taskID = regexp.MustCompile(`"task_id":\d+`)

// How much is kept of a log, at either end, and of any text. A text is cut because
// what Serena tells a model is neither needed here nor ours.
const (
	keptMessages = 4
	keptText     = 120 // characters
)

// json scrubs an answer. Of a list of tools only the names are kept.
func (s *scrubber) json(t testing.TB, body []byte) json.RawMessage {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s.text(canonical(body))))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s.trimmed("", v)); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// trimmed is what is kept of a member of an answer.
func (s *scrubber) trimmed(name string, v any) any {
	switch v := v.(type) {
	case string:
		if text := []rune(v); len(text) > keptText {
			return string(text[:keptText])
		}
	case []any:
		if name == "messages" && len(v) > 2*keptMessages {
			v = slices.Concat(v[:keptMessages], v[len(v)-keptMessages:])
		}
		for i := range v {
			if tool, ok := v[i].(map[string]any); ok && name == "tools" {
				v[i] = map[string]any{"name": tool["name"]}
			}
			v[i] = s.trimmed("", v[i])
		}
		return v
	case map[string]any:
		delete(v, "instructions")
		if id, ok := v["task_id"].(json.Number); ok {
			name, _ := v["name"].(string)
			v["task_id"] = s.task(name, id.String())
		}
		for name, member := range v {
			v[name] = s.trimmed(name, member)
		}
	}
	return v
}
