package serenatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// varying are the members of answers that are another with each run, or with each
// request. Of these only the type is compared.
var varying = []string{"id", "messages", "max_idx", "input_tokens", "output_tokens"}

// Differences are where a server answers something else than the transcript says,
// one a line.
func (tr Transcript) Differences(live Transcript) (list []string) {
	compare := func(where, want, got string) {
		if want != got {
			at := 0
			for at < min(len(want), len(got)) && want[at] == got[at] {
				at++
			}
			list = append(list, fmt.Sprintf("%s: recorded %s, answered %s", where, around(want, at), around(got, at)))
		}
	}
	compare("program", tr.Exe, live.Exe)
	compare("command line", fmt.Sprintf("%q", tr.Args), fmt.Sprintf("%q", live.Args))
	for _, s := range tr.States {
		now := live.state(s.Name)
		if now == nil {
			compare("state "+s.Name, "it", "nothing")
			continue
		}
		seen := map[string]bool{}
		for _, e := range slices.Concat(s.Exchanges, now.Exchanges) {
			if seen[e.Ask] {
				continue
			}
			seen[e.Ask] = true
			where, want, got := s.Name+", "+e.Ask, tr.answers(s.Name, e.Ask), live.answers(s.Name, e.Ask)
			if len(want) == 0 || len(got) == 0 {
				compare(where, fmt.Sprintf("%d times", len(want)), fmt.Sprintf("%d times", len(got)))
				continue
			}
			for i := range max(len(want), len(got)) {
				compare(where, want[min(i, len(want)-1)].steady(), got[min(i, len(got)-1)].steady())
			}
		}
	}
	return list
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

// around is a part of a text that shows a place in it.
func around(text string, at int) string {
	const before, behind = 100, 200
	return text[max(at-before, 0):min(at+behind, len(text))]
}
