package setup

import (
	"encoding/json"
	"strings"
	"testing"
)

// A list that is null in JSON would say that it is not known.
func TestNoListIsNull(t *testing.T) {
	b := newBed(t)
	check := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"path", "entries", "left", "changes", "running", "files"} {
			if strings.Contains(string(text), `"`+list+`":null`) {
				t.Errorf("%s is null in %s", list, text)
			}
		}
		if strings.HasPrefix(string(text), "null") {
			t.Error("the list itself is null")
		}
	}
	all := func() {
		t.Helper()
		for _, w := range []Wanted{{DryRun: true}, {Undo: true, DryRun: true}, {}, {Undo: true}} {
			result, err := New(b.o).Do(t.Context(), w)
			check(result, err)
			if len(result.Changes) > 0 && result.Changes[0].Before != nil {
				t.Error("contents that nobody wants")
			}
		}
		list, err := New(b.o).List(t.Context(), Wanted{})
		check(list, err)
	}
	all()
	b.write(cursorFile, direct)
	b.write(codexFile, "x")
	all()
	b.write(cursorFile, `{"mcpServers": {}}`)
	all()
}
