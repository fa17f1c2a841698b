package serenatest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// differences are where a server that was asked the same answers something else than
// the transcript says, one a line.
func (tr Transcript) differences(live Transcript) (list []string) {
	compare := func(what, recorded, answered string) {
		if recorded != answered {
			list = append(list, fmt.Sprintf("%s: recorded %s, answered %s", what, recorded, answered))
		}
	}
	compare("command line", fmt.Sprintf("%q", tr.Args), fmt.Sprintf("%q", live.Args))
	for i, s := range tr.States {
		for j, e := range s.Exchanges {
			compare(s.Name+", "+e.Ask, e.steady(), live.States[i].Exchanges[j].steady())
		}
	}
	return list
}

// varying are the members of answers that are another with each run, or with each
// request. Of these only the type is compared.
var varying = []string{"id", "messages", "max_idx", "input_tokens", "output_tokens"}

// steady is an answer as JSON, without what is another with each run.
func (e Exchange) steady() string {
	answer := steady("", decode(e.JSON))
	e.JSON = nil
	return string(encode([]any{e, answer}))
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
		for i := range v {
			v[i] = steady("", v[i])
		}
	}
	return v
}

func TestDifferences(t *testing.T) {
	recorded := Recorded(t, Version)
	if list := recorded.differences(Recorded(t, Version)); len(list) > 0 {
		t.Errorf("from itself: %q", list)
	}
	change := func(change func(e *Exchange)) Transcript {
		live := Recorded(t, Version)
		for i := range live.States[0].Exchanges {
			if e := &live.States[0].Exchanges[i]; e.Ask == "GET /last_execution" {
				change(e)
			}
		}
		return live
	}
	for _, c := range []struct {
		want string
		live Transcript
	}{
		{`"status":500`, change(func(e *Exchange) { e.Status = 500 })},
		{`{"last_execution":null}]`, change(func(e *Exchange) { e.JSON = json.RawMessage(`{"last_execution":null}`) })},
		{`"last_execution":"Task-1"`, change(func(e *Exchange) { e.JSON = json.RawMessage(`{"last_execution":"Task-1","status":"success"}`) })},
		{`"status":"fine"`, change(func(e *Exchange) { e.JSON = json.RawMessage(`{"last_execution":null,"status":"fine"}`) })},
		{`"more":1`, change(func(e *Exchange) { e.JSON = json.RawMessage(`{"last_execution":null,"status":"success","more":1}`) })},
		{`"status":200},`, change(func(e *Exchange) { e.Header = map[string]string{} })},
		{`"waits":true`, change(func(e *Exchange) { e.Waits = true })},
	} {
		list := recorded.differences(c.live)
		if len(list) != 1 || !strings.HasPrefix(list[0], "no project, GET /last_execution: recorded ") || !strings.Contains(list[0][strings.Index(list[0], ", answered "):], c.want) {
			t.Errorf("%q, want %q", list, c.want)
		}
	}
}
