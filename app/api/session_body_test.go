package api

import (
	"fmt"
	"strings"
	"testing"
)

// badObjects are bodies that are no order to anybody; PATH stands for a value
// that would do.
var badObjects = []string{
	``, ` `, `null`, `[]`, `"x"`, `42`, `true`, `{`, `}`, `{}`, "\x00", "\xff\xfe", `{"KEY"`, `{"KEY":`, `{"KEY":}`, `{"KEY":null}`, `{"KEY":{}}`, `{"KEY":[VALUE]}`,
	`{"KEY":VALUE} {}`, `{"KEY":VALUE}x`, `{"KEY":VALUE,}`, `{"KEY":VALUE,"KEY":VALUE}`, `{"KEY":VALUE,"colour":"red","KEY":VALUE}`, `{"KEY":VALUE,"colour":}`, `{"KEY":VALUE,"colour"}`, `{"Key":VALUE}`, `{"KEY":VALUE,"ESCAPED":VALUE}`,
	`{'KEY':VALUE}`, `KEY=VALUE`, "\ufeff" + `{"KEY":VALUE}`, `{"KEY":true}`, `[{"KEY":VALUE}]`, `{"KEY":` + strings.Repeat("[", 200_000), strings.Repeat(`{"KEY":`, 200_000), strings.Repeat("[", 1<<20),
}

func TestParseSessionOrder(t *testing.T) {
	for body, want := range map[string]SessionOrder{
		`{"project_path":"/p"}`:                         {ProjectPath: "/p"},
		" {\n\"project_path\" : \"\\u002fp\\n\" }\r\n":  {ProjectPath: "/p\n"},
		`{"server":"x","project_path":"/p q\"ü\u0000"}`: {ProjectPath: "/p q\"ü\x00", Server: "x"},
		`{"project_path":"","server":null}`:             {},
		`{"colour":["red"],"project_path":"/p","":{}}`:  {ProjectPath: "/p"},
		`{"project_path":"/p","Project_Path":"/q"}`:     {ProjectPath: "/p"},
		`{"x":"\ud800","project_path":"/<&>","x":1}`:    {ProjectPath: "/<&>"},
		`{"project_path":"/\ud83d\ude00\ufffd\\ud800"}`: {ProjectPath: "/😀\ufffd\\ud800"},
	} {
		if got, err := parseSessionOrder([]byte(body)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	more := []string{`{"project_path":5}`, `{"project_path":"/p","server":7}`, `{"server":"x"}`, "{\"project_path\":\"/p\xff\"}", `{"projectPath":"/p"}`, `{"path":"/p"}`, `{"project_path":"/p\ud800"}`, `{"project_path":"/p","server":"\udc00"}`}
	for _, body := range append(more, filled("project_path", `"/p"`)...) {
		if got, err := parseSessionOrder([]byte(body)); err == nil {
			t.Errorf("%.100q: %+v", body, got)
		}
	}
}

func TestParseSessionID(t *testing.T) {
	for body, want := range map[string]int{`{"session_id":1}`: 1, ` { "session_id" : 4711 } `: 4711, `{"session_id":1,"force":true,"Session_ID":2}`: 1} {
		if got, err := parseSessionID([]byte(body)); err != nil || got != want {
			t.Errorf("%s: %d, %v", body, got, err)
		}
	}
	more := []string{`{"session_id":"1"}`, `{"session_id":1.5}`, `{"session_id":1.0}`, `{"session_id":1e3}`, `{"session_id":0}`, `{"session_id":-1}`, `{"session_id":01}`, `{"session_id":99999999999999999999}`}
	for _, body := range append(more, filled("session_id", `1`)...) {
		if got, err := parseSessionID([]byte(body)); err == nil {
			t.Errorf("%.100q: %d", body, got)
		}
	}
}

// filled are the bad objects with a key and a value.
func filled(key, value string) []string {
	var all []string
	for _, body := range badObjects {
		all = append(all, strings.NewReplacer("KEY", key, "ESCAPED", fmt.Sprintf(`\u%04x%s`, key[0], key[1:]), "Key", strings.ToUpper(key[:1])+key[1:], "VALUE", value).Replace(body))
	}
	return all
}
