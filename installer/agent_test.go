package installer

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAgentsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program := programPaths().Draw(t, "program")
		text, err := launchAgent(program, rapid.SampledFrom([]string{"", "/run/share.sock"}).Draw(t, "socket"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseAgent(string(markedList(text)))
		if err != nil || got != (agent{label: agentLabel, program: program}) {
			t.Fatalf("%+v, %v\n%s", got, err, text)
		}
		if !isOurs(markedList(text)) || isOurs([]byte(text)) {
			t.Fatal("it is not known by its mark")
		}
	})
}

func TestLaunchAgent(t *testing.T) {
	text, err := launchAgent("/Users/a&b/lamplighter", "/Users/a&b/run/share.sock")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"<string>/Users/a&amp;b/lamplighter</string>", "<key>SuccessfulExit</key>\n\t\t<false/>", "<key>LimitLoadToSessionType</key>\n\t<string>Aqua</string>",
		"<key>SockPathName</key>\n\t\t\t<string>/Users/a&amp;b/run/share.sock</string>", "<integer>384</integer>", "<key>AbandonProcessGroup</key>\n\t<true/>",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if text, err = launchAgent("/a", ""); err != nil || strings.Contains(text, "Sock") {
		t.Errorf("without a socket: %v\n%s", err, text)
	}
}

func TestParseAgent(t *testing.T) {
	list := func(inside string) string { return "<plist><dict>" + inside + "</dict></plist>" }
	for name, test := range map[string]struct {
		text string
		want agent
		err  string // part of it
	}{
		"program":       {list("<key>Label</key><string>x</string><key>Program</key><string>/p</string><key>ProgramArguments</key><array><string>/q</string></array>"), agent{label: "x", program: "/p"}, ""},
		"arguments":     {list("<key>ProgramArguments</key><array><string>/q</string><string>run</string></array>"), agent{program: "/q"}, ""},
		"disabled":      {list("<key>Disabled</key><true/>"), agent{disabled: true}, ""},
		"of other kind": {list("<key>ProgramArguments</key><string>/q</string><key>Label</key><integer>1</integer><key>Disabled</key><dict/>"), agent{}, ""},
		"values alone":  {list("<string>a</string><true/>"), agent{}, ""},
		"binary":        {"bplist00\x00", agent{}, "plutil"},
		"nothing":       {"", agent{}, "no dictionary"},
		"an array":      {"<plist><array/></plist>", agent{}, "no dictionary"},
		"cut off":       {"<plist><dict><key>a", agent{}, "EOF"},
		"not closed":    {"<plist><dict></plist>", agent{}, "closed by"},
		"deep":          {list(strings.Repeat("<array>", 100)), agent{}, "too deep"},
		"other letters": {`<?xml version="1.0" encoding="x-no-such"?>` + list(""), agent{}, "encoding"},
	} {
		got, err := parseAgent(test.text)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
