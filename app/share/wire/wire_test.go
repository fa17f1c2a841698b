package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHeaders(t *testing.T) {
	for _, h := range []Header{
		{Hello, 0, MaxHello}, {Line, 1, MaxLine}, {Long, 1 << 63, HeadLength}, {Ran, 0, 64}, {Welcome, 0, 1 << 20},
		{Accept, 0xfedcba9876543210, 0}, {Deliver, 0, 7}, {Settle, 3, 0}, {Say, 0, 1}, {Bye, 0, 1}, {Heard, 0, 0},
	} {
		text := AppendHeader([]byte("x"), h)
		if len(text) != 1+HeaderLength {
			t.Fatalf("%+v: %d bytes", h, len(text)-1)
		}
		if got, err := ParseHeader(append(text[1:], "more"...)); err != nil || got != h {
			t.Errorf("%+v: %+v, %v", h, got, err)
		}
	}
	for name, text := range map[string][]byte{
		"short":            make([]byte, HeaderLength-1),
		"unknown":          AppendHeader(nil, Header{'?', 1, 0}),
		"too long":         AppendHeader(nil, Header{Line, 1, MaxLine + 1}),
		"a long sentence":  AppendHeader(nil, Header{Say, 0, maxShort + 1}),
		"no number":        AppendHeader(nil, Header{Line, 0, 1}),
		"accepts nothing":  AppendHeader(nil, Header{Accept, 0, 0}),
		"accept with more": AppendHeader(nil, Header{Accept, 1, 1}),
		"HTTP":             []byte("GET / HTTP/1.1\r\n"),
	} {
		if h, err := ParseHeader(text); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

var greetings = []Greeting{
	{},
	{Program: "1.0", Dir: "/a dir", Command: []string{"serena", "", "a:b\n1:x"}, Env: []string{"A=1", "B="}, Flags: []string{"--x=1"}, Own: "7-8", Initialize: []byte{1, 255}, Initialized: []byte("x")},
	{Dir: strings.Repeat("x", 1<<20), Command: make([]string, 1000), Moved: true},
	{Moved: true, Project: "/p"},
}

func TestHello(t *testing.T) {
	for _, want := range greetings {
		want.Initialize, want.Initialized = append([]byte{}, want.Initialize...), append([]byte{}, want.Initialized...)
		version, got, err := ParseHello(AppendHello(nil, want))
		if version != Version || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %d, %+v, %v", want, version, got, err)
		}
	}
	for _, text := range []string{"", "x", ":", "1:", "1:x", "1:0", "2:4", "1:5x", "1:5\x00", "1:5\x00Vx\x00", "1:52"} {
		if _, g, err := ParseHello([]byte(text)); !errors.Is(err, ErrFrame) {
			t.Errorf("%q: %+v, %v", text, g, err)
		}
	}
	// Of another version nothing else is read, nor of one that writes texts in another way.
	for text, want := range map[string]Greeting{"1:9\x00V9.9\x00D/a\x00?": {Program: "9.9"}, "1:31:13:0.9 and what else it says": {}} {
		if version, g, err := ParseHello([]byte(text)); version == Version || err != nil || !reflect.DeepEqual(g, want) {
			t.Errorf("%d, %+v, %v", version, g, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for line, want := range map[string]Message{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                     {Kind: Request, ID: []byte("1"), Method: "ping"},
		` { "id" : 1.50 , "method" : "a" , "params" : { "x" : [1] } }`: {Kind: Request, ID: []byte("1.50"), Method: "a", Params: []byte(`{ "x" : [1] }`)},
		`{"id":12345678901234567890,"method":"a"}`:                     {Kind: Request, ID: []byte("12345678901234567890"), Method: "a"},
		`{"id":"a\"}","method":"a"}`:                                   {Kind: Request, ID: []byte(`"a\"}"`), Method: "a"},
		`{"method":"tools\/call","id":-1}`:                             {Kind: Request, ID: []byte("-1"), Method: "tools/call"},
		`{"m\u0065thod":"ping","id":1}`:                                {},
		`{"\x":1,"id":1,"method":"a"}`:                                 {},
		`{"method":"\u0070ing","id":1}`:                                {},
		`{"method":"notifications/x","params":[]}`:                     {Kind: Notification, Method: "notifications/x", Params: []byte("[]")},
		`{"id":"a","result":{"}":"]"}}`:                                {Kind: Response, ID: []byte(`"a"`), Result: []byte(`{"}":"]"}`)},
		`{"id":null,"error":{"code":1}}`:                               {Kind: Response, ID: []byte("null"), Error: []byte(`{"code":1}`)},
		`{"id":1,"id":2,"method":"a"}`:                                 {Kind: Request, ID: []byte("2"), Method: "a"},
		`{"id":null,"method":"a"}`:                                     {ID: []byte("null"), Method: "a"},
		`{"id":{},"method":"a"}`:                                       {ID: []byte("{}"), Method: "a"},
		`{"id":1}`:                                                     {ID: []byte("1")},
		`{}`:                                                           {},
		`[{"id":1,"method":"a"}]`:                                      {Kind: Batch},
		"":                                                             {},
		"null":                                                         {},
		`{"id":1,"method":"a"`:                                         {ID: []byte("1")},
		`{"id":1,"method":"a"}}`:                                       {ID: []byte("1")},
		`{"id":1,"method":"a",}`:                                       {ID: []byte("1")},
		`{"id":1 "method":"a"}`:                                        {},
		`{"id":12`:                                                     {},
		`{"id":{},"method":"a`:                                         {},
		`{"id":1,"method":7}`:                                          {ID: []byte("1")},
		`{"id":1,"method":"a","params":T}`:                             {ID: []byte("1")},
		`{"id":,"method":"a"}`:                                         {},
		`{"id":"unfinished`:                                            {},
		`{"id":"\`:                                                     {},
	} {
		if got := Split([]byte(line)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// FuzzSplit: of what encoding/json takes for an object the same is found, and
// nothing is too strange.
func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,"]"]}}`))
	f.Add([]byte(`{"id":"\u0000","result":null,"error":1e5}`))
	f.Add([]byte(`{"\u0069d":1,"id\u0000":2,"m\u0065thod":"tools\/\ud83d\ude00","\ud800":[]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got := Split(line)
		var object map[string]json.RawMessage
		if json.Unmarshal(line, &object) != nil || object == nil {
			return
		}
		if !utf8.Valid(line) || got.Kind == Garbage && bytes.Contains(line, []byte(`\`)) {
			return // names with escapes are refused
		}
		var method string
		if json.Unmarshal(object["method"], &method) != nil && object["method"] != nil || string(object["method"]) == "null" {
			if got.Kind != Garbage {
				t.Errorf("%q has no method: %+v", line, got)
			}
			return
		}
		for name, part := range map[string][]byte{"id": got.ID, "params": got.Params, "result": got.Result, "error": got.Error} {
			if !bytes.Equal(part, bytes.TrimSpace(object[name])) {
				t.Errorf("%q: %s is %q, not %q", line, name, part, object[name])
			}
		}
		if got.Method != method {
			t.Errorf("%q: the method is %q", line, got.Method)
		}
	})
}

func TestErrorLine(t *testing.T) {
	if got := string(ErrorLine(nil, CodeParse, "it is\n no JSON")); got != `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"it is\u000a no JSON"}}` {
		t.Error(got)
	}
	var decoded struct{ Error struct{ Message string } }
	const message = "a\"b\\\x00\n\u2028é😀"
	line := ErrorLine([]byte(`"x"`), CodeInternal, message)
	if err := json.Unmarshal(line, &decoded); err != nil || decoded.Error.Message != message || bytes.ContainsAny(line, "\n\r") {
		t.Errorf("%q: %v", line, err)
	}
	if line := ErrorLine(nil, CodeInternal, "a\xff"); !json.Valid(line) || Split(line).Kind != Response {
		t.Errorf("%q", line)
	}
}

func TestRelevant(t *testing.T) {
	for name, want := range map[string]bool{
		"PYENV_VERSION": true, "NVM_DIR": true, "MISE_NODE_VERSION": true, "OPAMSWITCH": true, "MIX_ENV": true, "TMPDIR": true,
		"GOPATH": true, "GOTOOLCHAIN": true, "GO111MODULE": true, "GOOGLE_API_KEY": false, "GO": false, "PYENV_SHELL": false, "MISE_SHELL": false,
		"PATH": true, "HOME": true, "SERENA_HOME": true, "GOFLAGS": true, "VIRTUAL_ENV": true, "LC_ALL": true, "https_proxy": true,
		"TERM": false, "SSH_AUTH_SOCK": false, "PATHS": false, "": false, "ANTHROPIC_API_KEY": false, "XDG_RUNTIME_DIR": false,
	} {
		if got := Relevant(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
