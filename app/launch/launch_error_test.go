package launch

import (
	"errors"
	"strings"
	"testing"
)

func TestStartErrors(t *testing.T) {
	cause := errors.New("cause")
	tried := []Verdict{{Candidate: Candidate{Command: []string{"/bin/x", "a b"}, Source: "uvx"}, Detail: "it is\nnot there."}}
	chosen := Candidate{Command: []string{"/opt/serena"}, Source: "PATH of the login shell"}
	for want, err := range map[string]error{
		`starting serena: /opt/serena (PATH of the login shell): it did not accept MCP within 10 s. Its last lines: a | b. Tried before: • /bin/x "a b" (uvx): it is not there`: &StartError{
			Server: "serena\n", Chosen: chosen, Why: "it did not accept MCP within 10 s.", Stderr: []string{"a", "b"}, Tried: tried, Err: cause},
		`starting serena: no command was found that starts it; lamplighter doctor explains it. Tried: • /bin/x "a b" (uvx): it is not there`: &StartError{
			Server: "serena", Why: "no command was found that starts it", Tried: tried, Err: cause},
	} {
		if err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	lines := printedLines(strings.Repeat("x\n\n", 20) + "\x1b[31mred\r\n" + strings.Repeat("é", shownLength))
	if len(lines) != shownLines || lines[8] != "[31mred" || len(lines[9]) != shownLength+len("…") {
		t.Errorf("%q", lines)
	}
}
