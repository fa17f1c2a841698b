package api

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// JSON output is harmless on a terminal, and nothing is lost.
func TestMarshalIsHarmlessAndLossless(t *testing.T) {
	hostile := rapid.SampledFrom([]rune{0, '\a', '\t', '\n', '\r', 0x1b, 0x7f, 0x85, 0x9b, 0x200b, 0x200e, 0x202e, 0x2066, 0x2028, 0xfeff, 0xe000, 0xe0041, 0x10fffd, '"', '\\', '<', 'é', '水', '🙂'})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOf(hostile).Draw(t, "runes"))
		})).Draw(t, "text")
		body, err := Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range string(body) {
			if monitor.Unprintable(r) || r == utf8.RuneError && !strings.ContainsRune(text, r) {
				t.Fatalf("%+q holds %U", body, r)
			}
		}
		var back map[string]string
		if err := json.Unmarshal(body, &back); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if got, ok := back[text]; !ok || got != text {
			t.Errorf("%+q came back as %+q", text, back)
		}
	})
}

func TestIsProgram(t *testing.T) {
	for exe, want := range map[string]bool{
		"": false, "/usr/bin/lamplighter": true, "/usr/bin/lamplighter (deleted)": true, `C:\x\Lamplighter.exe`: true, `C:\x\lamplighter-tray.exe`: true,
		"/opt/renamed": true, "/usr/bin/lamplighter-connect": false, "/usr/bin/lamplighter-tray-2": false, "/lamplighter/python3": false,
	} {
		if got := IsProgram(exe, "/opt/renamed"); got != want {
			t.Errorf("%q: %v", exe, got)
		}
	}
	if IsProgram("", "") {
		t.Error("nothing is a lamplighter")
	}
}
