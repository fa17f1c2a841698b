package serenatest

import (
	"bytes"
	"embed"
	"encoding/json"
	"testing"

	"lamplighter/monitor"
)

// Versions are all versions of Serena that the tools hold, the oldest first.
var Versions = []string{Version15, Version17, Version}

// Transcript is what a real Serena of one version answered when it was asked for.
// What is of the machine on which it ran, or of the moment, is replaced: see
// scrubber.
type Transcript struct {
	Version string   `json:"version"`
	Exe     string   `json:"exe"`  // of the process of the server, on a machine of its time
	Args    []string `json:"args"` // its command line
	States  []State  `json:"states"`
}

// State is what a server is asked in one situation, in this order, and answers.
type State struct {
	Name string `json:"name"`
	// After names the state before, which has the answers to what was not asked
	// again; "" when a server begins with this one.
	After     string     `json:"after"`
	Exchanges []Exchange `json:"exchanges"`
}

// The states of a transcript, in the order in which a server goes through them.
const (
	NoProject = "no project" // ready, and nobody has called it
	Project   = "project"    // a client has activated one
	Busy      = "busy"       // a tool runs
	Called    = "called"     // that tool has ended
	CutOff    = "cut off"    // the next one was cancelled while it ran
	Changed   = "changed"    // what the dashboard can change, and then its end

	// REPL is another server, with the agent interface of that name, that has a
	// project. Only Version has it.
	REPL = "repl"
)

// Exchange is a request and its answer. An answer that was JSON, or an event
// stream with a message in it, is in JSON; any other is in Text.
type Exchange struct {
	Ask    string            `json:"ask"`             // see askOf
	Waits  bool              `json:"waits,omitempty"` // there was no answer in this state
	Status int               `json:"status,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	JSON   json.RawMessage   `json:"json,omitempty"`
	Text   string            `json:"text,omitempty"`
}

//go:embed testdata/transcripts
var transcripts embed.FS

// Recorded returns the transcript of a version.
func Recorded(t testing.TB, version string) Transcript {
	t.Helper()
	data, err := transcripts.ReadFile("testdata/transcripts/" + version + ".json")
	if err != nil {
		t.Fatalf("no transcript of Serena %s: %v", version, err)
	}
	var tr Transcript
	if err := json.Unmarshal(data, &tr); err != nil {
		t.Fatalf("reading the transcript of Serena %s: %v", version, err)
	}
	return tr
}

// state finds a state by its name, nil when the transcript has none.
func (tr Transcript) state(name string) *State {
	for i := range tr.States {
		if tr.States[i].Name == name {
			return &tr.States[i]
		}
	}
	return nil
}

// answers are those to a request in a state, in order, or the last in the nearest one
// before it that has any.
func (tr Transcript) answers(state, ask string) (answers []Exchange) {
	for s := tr.state(state); s != nil && len(answers) == 0; s = tr.state(s.After) {
		for _, e := range s.Exchanges {
			if e.Ask == ask {
				answers = append(answers, e)
			}
		}
		if s.Name != state && len(answers) > 0 {
			answers = answers[len(answers)-1:]
		}
	}
	return answers
}

// decode reads JSON, with its numbers as they stand; nil is what is none.
func decode(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// encode writes what decode has read, or a transcript: members sorted, no space, and
// <, > and & as they are.
func encode(v any) []byte {
	text, err := monitor.JSON(v, "")
	if err != nil {
		panic(err)
	}
	return bytes.TrimSpace(text)
}

// canonical is a JSON value as encode writes it, or the text itself when it is none.
func canonical(text []byte) string {
	if v := decode(text); v != nil {
		return string(encode(v))
	}
	return string(text)
}
