package serenatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// varying are the members of answers that are another with each run, or with each
// request. Of these only the type is compared.
var varying = []string{"id", "messages", "max_idx", "input_tokens", "output_tokens"}

// Differences are where a server answers something else than the transcript says,
// one a line.
func (tr Transcript) Differences(live Transcript) (list []string) {
	want, got := tr.lines(), live.lines()
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, where := range slices.Sorted(maps.Keys(all)) {
		if want[where] != got[where] {
			list = append(list, fmt.Sprintf("%s: recorded %s, answered %s", where, want[where], got[where]))
		}
	}
	return list
}

// lines are all that a server of the transcript answers, by the state and the request.
func (tr Transcript) lines() map[string]string {
	lines := map[string]string{"program": tr.Exe, "command line": fmt.Sprintf("%q", tr.Args)}
	for _, s := range tr.States {
		for at := &s; at != nil; at = tr.state(at.After) {
			for _, e := range at.Exchanges {
				for i, answer := range tr.answers(s.Name, e.Ask) {
					lines[fmt.Sprintf("%s, %s, answer %d", s.Name, e.Ask, i+1)] = answer.steady()
				}
			}
		}
	}
	return lines
}

// steady is an answer as JSON, without what is another with each run.
func (e Exchange) steady() string {
	var answer any
	d := json.NewDecoder(bytes.NewReader(e.JSON))
	d.UseNumber()
	if d.Decode(&answer) != nil {
		answer = nil
	}
	answer = steady("", answer)
	e.JSON = nil
	text, err := json.Marshal([]any{e, answer})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// steady is what is compared of a member of an answer.
func steady(name string, v any) any {
	if slices.Contains(varying, name) {
		return fmt.Sprintf("%T", v)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = steady(name, member)
		}
	case []any:
		v = slices.DeleteFunc(v, isLook)
		for i := range v {
			v[i] = steady("", v[i])
		}
		return v
	}
	return v
}

// isLook reports whether an entry of a queue is a task of a dashboard, which anybody
// who looks at the server adds: see serena.Client.Queue.
func isLook(v any) bool {
	task, _ := v.(map[string]any)
	name, _ := task["name"].(string)
	return strings.HasPrefix(name, "BackgroundTask:")
}
