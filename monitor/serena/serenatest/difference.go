package serenatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// varying are the members of answers that are another with each run. Of these only
// the type is compared.
var varying = []string{"messages", "max_idx", "input_tokens", "output_tokens"}

// Differences are where a server answers something else than the transcript says,
// one a line.
func (tr Transcript) Differences(live Transcript) (list []string) {
	add := func(where string, want, got any) {
		list = append(list, fmt.Sprintf("%s: recorded %s, answered %s", where, brief(want), brief(got)))
	}
	if tr.Exe != live.Exe {
		add("program", tr.Exe, live.Exe)
	}
	if !slices.Equal(tr.Args, live.Args) {
		add("command line", tr.Args, live.Args)
	}
	for _, s := range tr.States {
		now := live.state(s.Name)
		if now == nil {
			add("state "+s.Name, "it", nil)
			continue
		}
		seen := map[string]bool{}
		for _, e := range slices.Concat(s.Exchanges, now.Exchanges) {
			if seen[e.Ask] {
				continue
			}
			seen[e.Ask] = true
			want, got := tr.answers(s.Name, e.Ask), live.answers(s.Name, e.Ask)
			if len(want) == 0 || len(got) == 0 {
				add(s.Name+", "+e.Ask, want, got)
				continue
			}
			for i := range max(len(want), len(got)) {
				want[min(i, len(want)-1)].differences(got[min(i, len(got)-1)], s.Name+", "+e.Ask, add)
			}
		}
	}
	return list
}

func (e Exchange) differences(now Exchange, where string, add func(where string, want, got any)) {
	if e.Waits != now.Waits {
		add(where+" waits", e.Waits, now.Waits)
	}
	if e.Status != now.Status {
		add(where+" status", e.Status, now.Status)
	}
	if !maps.Equal(e.Header, now.Header) {
		add(where+" headers", e.Header, now.Header)
	}
	if e.Text != now.Text {
		add(where, e.Text, now.Text)
	}
	compare(where, decoded(e.JSON), decoded(now.JSON), add)
}

// compare compares two JSON values.
func compare(where string, want, got any, add func(where string, want, got any)) {
	if reflect.TypeOf(want) != reflect.TypeOf(got) {
		add(where, want, got)
		return
	}
	switch want := want.(type) {
	case map[string]any:
		got := got.(map[string]any)
		for name := range want {
			if _, there := got[name]; !there {
				add(where+" ."+name, want[name], "nothing")
			}
		}
		for name, value := range got {
			old, known := want[name]
			switch {
			case !known:
				add(where+" ."+name, "nothing", value)
			case slices.Contains(varying, name):
				if reflect.TypeOf(old) != reflect.TypeOf(value) {
					add(where+" ."+name, old, value)
				}
			default:
				compare(where+" ."+name, old, value, add)
			}
		}
	case []any:
		want, got := withoutLooks(want), withoutLooks(got.([]any))
		if len(want) != len(got) {
			add(where, want, got)
			return
		}
		for i := range want {
			compare(where+"["+strconv.Itoa(i)+"]", want[i], got[i], add)
		}
	default:
		if want != got {
			add(where, want, got)
		}
	}
}

// withoutLooks leaves out of a queue the tasks of a dashboard, which anybody who
// looks at the server adds: see serena.Client.Queue.
func withoutLooks(list []any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool {
		task, _ := v.(map[string]any)
		name, _ := task["name"].(string)
		return strings.HasPrefix(name, "BackgroundTask:")
	})
}

// decoded is a JSON value, nil for none.
func decoded(text json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// brief is a value as JSON, and not all of a long one.
func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	const limit = 300
	if len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return string(text)
}
