package serenatest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"lamplighter/monitor/serena"
)

// scrubber takes out of answers what belongs to one machine or one moment: paths,
// times, ids of tasks, and most of a log.
type scrubber struct {
	paths []string              // old and new, in turn
	tasks map[int64]json.Number // ids of tasks, addresses in memory in some versions, by their numbers
}

var moments = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d,\d{3}`), "2026-01-01${1}00:00:00,000"},
	{regexp.MustCompile(`/python[\d.]+\b`), "/python"},
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

// How much is kept of a log, at either end, and of any text. A text is cut because
// what Serena tells a model is neither needed here nor ours.
const (
	keptMessages = 4
	keptText     = 120 // characters
)

// json scrubs an answer. Of a list of tools only the names are kept.
func (s *scrubber) json(body []byte) json.RawMessage {
	return encode(s.trimmed("", decode([]byte(s.text(canonical(body))))))
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
			number := serena.TaskNumber(name) // 0 for one of the dashboard's own
			s.tasks[number], v["task_id"] = id, number
		}
		for name, member := range v {
			v[name] = s.trimmed(name, member)
		}
	}
	return v
}
