package installer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// programPaths are paths that can be named, with all that means something to
// systemd, to desktops or to XML in them.
func programPaths() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom([]rune("ab \"'\\%$`=&<>;|*?#()~:@-+!{}[]/hnx0äλ日\u00a0\u2028")), 0, 12, -1),
		rapid.SampledFrom([]string{"%h", "%%", "$HOME", "${X}", "$$", `\n`, `\s`, "lamplighter", "]]>", "  "}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return "/" + strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "parts"), "") + rapid.SampledFrom([]string{"", "/lamplighter"}).Draw(t, "end")
	}).Filter(func(path string) bool { return nameable(path) == nil })
}

func TestUnitsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program, headless := programPaths().Draw(t, "program"), rapid.Bool().Draw(t, "headless")
		text, err := ServiceUnit(program, headless)
		if err != nil {
			t.Fatal(err)
		}
		settings := parseUnit(string(marked(text)))
		if got := serviceProgram(settings, "/home/other"); got.err != nil || got.program != program {
			t.Fatalf("%q, %v\n%s", got.program, got.err, text)
		}
		if n := len(settings); n != len(parseUnit(mustUnit(t, "/p", headless))) {
			t.Fatalf("%d settings in\n%s", n, text)
		}
	})
}

func mustUnit(t interface{ Fatal(...any) }, program string, headless bool) string {
	text, err := ServiceUnit(program, headless)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestServiceUnit(t *testing.T) {
	with := func(headless bool) string { return mustUnit(t, "/home/me/.local/bin/lamplighter", headless) }
	for _, line := range []string{
		`ExecStart="/home/me/.local/bin/lamplighter" run --at-login`, "Restart=on-failure", "RestartPreventExitStatus=2", "KillMode=process",
		"PartOf=graphical-session.target", "WantedBy=graphical-session.target", "Wants=lamplighter.socket", "After=graphical-session.target lamplighter.socket", "Also=lamplighter.socket",
	} {
		if !strings.Contains(with(false), "\n"+line+"\n") {
			t.Errorf("%q is not in\n%s", line, with(false))
		}
	}
	if text := with(true); strings.Contains(text, desktopTarget) || !strings.Contains(text, "\nWantedBy=default.target\n") || !strings.Contains(text, "\nAfter=lamplighter.socket\n") {
		t.Errorf("headless:\n%s", text)
	}
	if text := SocketUnit(); !strings.Contains(text, "\nListenStream=%t/lamplighter/share.sock\n") || !strings.Contains(text, "\nFileDescriptorName=share\n") {
		t.Error(text)
	}
}

// What no file can name is refused everywhere.
func TestNoTextForSuchAProgram(t *testing.T) {
	for _, program := range []string{
		"", "/a\nb", "/a\rb", "/a\x00b", "/a\x7f", "/a\xff", "bin/lamplighter", "./lamplighter", "-x", "@lamplighter", "a b", "/\ufffe", "/\U0001ffff", "/\ufdd0", "/a\tb",
	} {
		texts := map[string]func() (string, error){
			"unit":      func() (string, error) { return ServiceUnit(program, false) },
			"menu":      func() (string, error) { return MenuEntry(program) },
			"autostart": func() (string, error) { return autostartEntry(program, true) },
			"agent":     func() (string, error) { return launchAgent(program, "") },
		}
		for name, text := range texts {
			if got, err := text(); err == nil || got != "" || !strings.Contains(err.Error(), "Install it elsewhere") {
				t.Errorf("%s for %q: %v\n%s", name, program, err, got)
			}
		}
	}
	if _, err := launchAgent("/a", "/run/a\nb"); err == nil {
		t.Error("a socket with a line break")
	}
	if text, err := MenuEntry("lamplighter"); err != nil || !strings.Contains(text, "\nExec=lamplighter run\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestUnitProgram(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/lamplighter run":                     "/usr/bin/lamplighter",
		`-"/a b/lamplighter" run`:                      "/a b/lamplighter",
		`@/usr/bin/lamplighter lamp run`:               "/usr/bin/lamplighter",
		`:/bin/sh -c 'exec "$0" "$@"' "/o'x/lamp" run`: "/o'x/lamp",
		"/usr/bin/env X=1 /opt/lamplighter run":        "/opt/lamplighter",
		"/usr/bin/nice -n 5 lamplighter run":           "lamplighter",
		`%h/bin/lamplighter run`:                       "/home/me/bin/lamplighter",
		`/a%%b\x20c\u00e9\101/x`:                       "/a%b cé" + "A/x",
		`"/unfinished`:                                 "",
		`/bad\q`:                                       "",
		`/ends\`:                                       "",
		"":                                             "",
		"   ":                                          "",
		"/usr/bin/other --with thing":                  "/usr/bin/other",
		`/bin/sh -c 'lamplighter run'`:                 "/bin/sh",
		`+!!'/quoted lamplighter' run`:                 "/quoted lamplighter",
	} {
		if got := unitProgram(line, "/home/me"); got != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
}

func TestServiceProgram(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		err        error
	}{
		"one":           {"[Service]\nExecStart=/a/lamplighter run\n", "/a/lamplighter", nil},
		"comments":      {"\ufeff# x\r\n[Service]\r\n# ExecStart=/b\r\n;ExecStart=/c\r\nExecStart = /a/lamplighter run\r\n", "/a/lamplighter", nil},
		"continued":     {"[Service]\nExecStart=/usr/bin/env \\\n# comment\n; another\n  A=1 \\\n  /a/lamplighter\nX=1\n", "/a/lamplighter", nil},
		"another group": {"[Unit]\nExecStart=/b\n[Service]\nExecStart=/a\n[Install]\nExecStart=/c\n", "/a", nil},
		"taken back":    {"[Service]\nExecStart=/b\nExecStart=\nExecStart=/a\n", "/a", nil},
		"two":           {"[Service]\nExecStart=/a\nExecStart=/b\n", "/a", errManyCommands},
		"oneshot":       {"[Service]\nType=oneshot\nExecStart=/a\nExecStart=/b\n", "/a", nil},
		"none":          {"[Service]\nExecStartPre=/a\n", "", errNoCommand},
		"no group":      {"ExecStart=/a\n", "", errNoCommand},
		"not a unit":    {"\x00\x01[[[\n=\n===\n", "", errNoCommand},
	} {
		if got := serviceProgram(parseUnit(test.text), ""); got.program != test.want || got.err != test.err {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzUnit(f *testing.F) {
	f.Add(mustUnit(f, "/a b/lamplighter", true))
	f.Add("[Service]\nExecStart=-:\"/a\\x20\\u00e9\\101\" \\\n# x\n '%h' $$\n")
	f.Add("[Service\n=\nA\\\n\\\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range parseUnit(text) {
			if strings.Contains(s.key+s.value, "\n") || s.key != strings.TrimSpace(s.key) || s.value != strings.TrimSpace(s.value) {
				t.Errorf("%+v", s)
			}
			words, ok := splitUnit(s.value)
			if !ok {
				continue
			}
			// The same words come back when they are quoted.
			var line []string
			for _, word := range words {
				line = append(line, strings.ReplaceAll(quoteUnit(word), "%%", "%"))
			}
			if again, ok := splitUnit(strings.Join(line, " ")); !ok || !slices.Equal(again, words) {
				t.Errorf("%q, then %q", words, again)
			}
		}
		serviceProgram(parseUnit(text), "/home/me")
	})
}
