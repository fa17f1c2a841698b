package payload

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestObject(t *testing.T) {
	for body, want := range map[string]string{ // names with values, or what is wrong
		`{}`:                                   "",
		" {\n\"a\" : [1, {\"x\":\"}\"}] }\r\n": `a=[1, {"x":"}"}]`,
		`{"b":null,"\u0061":1}`:                "a=1 b=null",
		`{"a":"\ud83d\ude00\\ud800"}`:          `a="\ud83d\ude00\\ud800"`,
		`{"a":"\\\\\uD83D\uDE00\"\ufffd"}`:     `a="\\\\\uD83D\uDE00\"\ufffd"`,
		``:                                     "not a JSON object",
		`null`:                                 "not a JSON object",
		"\ufeff{}":                             "not a JSON object",
		"{\"\xff\":1}":                         "not UTF-8",
		`{"a"`:                                 "not valid JSON",
		`{"a":1,}`:                             "not valid JSON",
		`{"a":01}`:                             "not valid JSON",
		`{"a":1`:                               "has no end",
		`{"a":1}{}`:                            "something follows",
		`{"a":1}]`:                             "something follows",
		`{"a":1,"a":1}`:                        "a is given twice",
		`{"a":1,"\u0061":1}`:                   "a is given twice",
		`{"A":1}`:                              `"A": there is no such field`,
		`{"\ud800":1}`:                         "there is no such field",
		`{"\u202e\u001b[2J":1}`:                `"[2J": there is no such field`,
		`{"a":"\ud800"}`:                       "a holds half a character",
		`{"a":"\udc00"}`:                       "a holds half a character",
		`{"a":"\ude00\ud83d"}`:                 "a holds half a character",
		`{"a":"\ud800\u0041"}`:                 "a holds half a character",
		`{"a":"\ud800\\udc00"}`:                "a holds half a character",
		`{"a":"\ud800x\udc00"}`:                "a holds half a character",
		`{"a":"\\\uDBFF"}`:                     "a holds half a character",
		`{"a":"\ud83d\ude00\udfff"}`:           "a holds half a character",
		`{"a":[{"\ud800":1}]}`:                 "a holds half a character",
		`{"a":` + strings.Repeat("[", 20_000):  "not valid JSON",
	} {
		values, err := Object([]byte(body), "a", "b")
		var all []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			all = append(all, name+"="+string(values[name]))
		}
		if got := strings.Join(all, " "); err == nil && got != want || err != nil && (values != nil || want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.80s: %s, %v", body, got, err)
		}
	}
}

// What is taken means the same to the decoder, and nothing is replaced in it.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":"\ud83d\ude00"}`, `{"a":"\\\ud800"}`, `{"a":"\ufffd"}`, `{"a":{"a":[]}} `, `{"a":1,"a":2}`, "[", "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		values, err := Object(body, "a", "b")
		if err != nil {
			return
		}
		var meant map[string]json.RawMessage
		if err := json.Unmarshal(body, &meant); err != nil || !utf8.Valid(body) || len(meant) != len(values) {
			t.Fatalf("%q became %q: %v", body, values, err)
		}
		for name, value := range values {
			var read any
			if err := json.Unmarshal(value, &read); err != nil || string(meant[name]) != string(value) {
				t.Errorf("%s: %q became %q: %v", name, meant[name], value, err)
			}
			text, _ := read.(string)
			if given := strings.Count(string(value), "\ufffd") + strings.Count(strings.ToLower(string(value)), `\ufffd`); strings.Count(text, "\ufffd") > given {
				t.Errorf("%q became %q", value, text)
			}
		}
	})
}
