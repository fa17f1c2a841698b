package doctor

import (
	"encoding/json"
	"strings"
	"testing"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

var sample = Report{Lines: []Line{
	{Area: Program, Mark: OK, Text: "lamplighter 1.2.3 is /usr/bin/lamplighter"},
	{Area: Serena, Mark: Broken, Text: "Serena cannot be started", Means: "A session is refused.", Do: "Install it: uv tool install serena-agent"},
	{Area: Serena, Mark: Broken, Text: "python3 -P -c … (Python): it ended", Candidate: &Candidate{Problem: launch.Failed, Stderr: []string{"a", "b", "c", "d"}}},
	{Area: Desktop, Mark: Warn, Text: "there is no desktop session here"},
}}

// Nothing is wider than the terminal unless a word is, and the marks stand alone
// at the left.
func TestWraps(t *testing.T) {
	long := Report{Lines: []Line{{Area: Files, Mark: Warn, Text: strings.Repeat("日本 words ", 30), Means: strings.Repeat("means ", 40), Do: strings.Repeat("do ", 50)}}}
	for _, ascii := range []bool{false, true} {
		for _, width := range []int{40, 60, 133} {
			text := long.Text(Style{Width: width, ASCII: ascii})
			for i, line := range strings.Split(text, "\n") {
				if monitor.Columns(line) > width {
					t.Errorf("%d columns, line %d is wider: %q", width, i, line)
				}
				if i > 1 && line != "" && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "Nothing is broken") {
					t.Errorf("line %d is not below its mark: %q", i, line)
				}
			}
		}
	}
	if n := strings.Count(long.Text(Style{Width: 20}), "\n"); n != 6 {
		t.Errorf("a terminal that is too narrow wraps: %d lines", n)
	}
}

func TestUTF8(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "C"}, false},
		{map[string]string{"LANG": "C.UTF-8"}, true},
		{map[string]string{"LANG": "de_DE.utf8"}, true},
		{map[string]string{"LANG": "de_DE.ISO-8859-1"}, false},
		{map[string]string{"LANG": "C.UTF-8", "LC_ALL": "POSIX"}, false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "en_GB.UTF-8"}, true},
	} {
		if got := UTF8(func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%v: %v", test.env, got)
		}
	}
}

func TestJSON(t *testing.T) {
	text, err := json.Marshal(sample)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		OK    bool
		Lines []map[string]any
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.OK || len(back.Lines) != 4 {
		t.Errorf("got %s", text)
	}
	for i, fields := range []int{5, 5, 6, 5} { // area, mark, text, means, do
		if len(back.Lines[i]) != fields {
			t.Errorf("line %d: %v", i, back.Lines[i])
		}
	}
	if text, err = json.Marshal(Report{}); err != nil || string(text) != `{"ok":true,"lines":[]}` {
		t.Errorf("%s, %v", text, err)
	}
}
