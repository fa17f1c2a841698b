package setup

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/monitor/command"
)

func TestReadConnection(t *testing.T) {
	for _, test := range []struct {
		goos, words string
		want        connection
		ours        bool
		why         string
	}{
		{words: "serena start-mcp-server"},
		{words: "lamplighter serve"},
		{words: "lamplighter"},
		{words: "lamplighter-connect connect -- serena a", ours: true, want: connection{program: "lamplighter-connect", command: []string{"serena", "a"}}},
		{words: "/opt/lamplighter-connect connect serena -- a", ours: true, want: connection{program: "/opt/lamplighter-connect", command: []string{"serena", "--", "a"}}},
		{
			words: "lamplighter connect --or-direct --socket /s --flag --x --idle-shutdown-minutes=5 -- serena --or-direct", ours: true,
			want: connection{program: "lamplighter", flags: []string{"--or-direct", "--socket", "/s", "--flag", "--x", "--idle-shutdown-minutes=5"}, command: []string{"serena", "--or-direct"}},
		},
		{
			goos: "windows", words: `cmd /d /c C:\L\Lamplighter-Connect.exe connect -- npx x`, ours: true,
			want: connection{shell: []string{"cmd", "/d", "/c"}, program: `C:\L\Lamplighter-Connect.exe`, command: []string{"npx", "x"}},
		},
		{goos: "linux", words: "cmd /c lamplighter-connect connect -- a"},
		{goos: "windows", words: "cmd /k lamplighter-connect connect -- a"},
		{words: "lamplighter-connect", ours: true, why: "without connect"},
		{words: "lamplighter-connect keep -- a", ours: true, why: "without connect"},
		{words: "lamplighter-connect connect", ours: true, why: "without the command"},
		{words: "lamplighter-connect connect --", ours: true, why: "without the command"},
		{words: "lamplighter-connect connect --socket", ours: true, why: "without the command"},
		{words: "lamplighter connect --or-direct", ours: true, why: "without the command"},
	} {
		got, ours, why := readConnection(test.goos, strings.Fields(test.words))
		if ours != test.ours || test.why == "" && why != "" || !strings.Contains(why, test.why) {
			t.Errorf("%s: ours %v, %q", test.words, ours, why)
		}
		if test.why == "" && (!slices.Equal(got.shell, test.want.shell) || got.program != test.want.program || !slices.Equal(got.flags, test.want.flags) || !slices.Equal(got.command, test.want.command)) {
			t.Errorf("%s: %+v", test.words, got)
		}
	}
	if _, ours, _ := readConnection("linux", nil); ours {
		t.Error("nothing is ours")
	}
	if _, _, why := readConnection("linux", []string{"lamplighter-connect", "connect", "--", ""}); why == "" {
		t.Error("an empty command is one")
	}
}

func TestThroughAndUnwrap(t *testing.T) {
	for _, test := range []struct {
		goos, words   string
		socket        string
		through, back string
	}{
		{words: "lamplighter-connect connect -- serena a", through: "/l connect --or-direct -- serena a", back: "serena a"},
		{words: "lamplighter connect serena a", through: "/l connect --or-direct -- serena a", back: "serena a"},
		{words: "/x/lamplighter-connect connect --or-direct --socket /s -- serena", through: "/l connect --or-direct --socket /s -- serena", back: "serena"},
		{words: "/x/lamplighter-connect connect --or-direct -- serena", through: "/l connect --or-direct -- serena", back: "serena"},
		{words: "lamplighter-connect connect --flag --or-direct -- serena", through: "/l connect --or-direct --flag --or-direct -- serena", back: "serena"},
		{words: "lamplighter-connect connect -- serena", socket: "/n", through: "/l connect --or-direct --socket /n -- serena", back: "serena"},
		{
			words: "lamplighter-connect connect --flag --socket --socket /a --or-direct --socket=/b --idle-shutdown-minutes 5 --socket -- serena --socket /c", socket: "/n",
			through: "/l connect --socket /n --flag --socket --or-direct --idle-shutdown-minutes 5 -- serena --socket /c", back: "serena --socket /c",
		},
		{goos: "windows", words: "cmd /c lamplighter-connect connect -- npx x", through: "/l connect --or-direct -- npx x", back: "cmd /c npx x"},
		{goos: "windows", words: "cmd /c lamplighter-connect connect -- cmd /c npx x", through: "/l connect --or-direct -- cmd /c npx x", back: "cmd /c npx x"},
	} {
		c, ours, why := readConnection(test.goos, strings.Fields(test.words))
		if !ours || why != "" {
			t.Fatal(test.words, why)
		}
		if got := strings.Join(c.through("/l", test.socket), " "); got != test.through {
			t.Errorf("%s: through %s", test.words, got)
		}
		if got := strings.Join(c.unwrap(), " "); got != test.back {
			t.Errorf("%s: back %s", test.words, got)
		}
	}
}

// Whatever a client runs can be had back, and what is written is what others take
// for a shim.
func TestWrapThenUnwrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		socket := rapid.SampledFrom([]string{"", "/s"}).Draw(t, "socket")
		words := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"--", "connect", "--or-direct", "lamplighter-connect", "cmd", "/c", "serena"})), 1, 8).Draw(t, "words")
		if words[0] == "" {
			words[0] = "x"
		}
		goos := rapid.SampledFrom([]string{"linux", "windows"}).Draw(t, "goos")
		wrapped := wrap("/opt/lamplighter-connect", socket, words)
		if !command.IsShim("/opt/lamplighter-connect", wrapped) {
			t.Fatalf("no shim: %q", wrapped)
		}
		c, ours, why := readConnection(goos, wrapped)
		if !ours || why != "" || !c.orDirect() || !slices.Equal(c.unwrap(), words) {
			t.Fatalf("%q: %+v, %v, %q", wrapped, c, ours, why)
		}
		if named, _ := c.cutSocket(); named != socket {
			t.Fatalf("%q names %q", wrapped, named)
		}
	})
}

func TestClosePage(t *testing.T) {
	const off = " --open-web-dashboard false"
	for command, want := range map[string]string{
		"serena start-mcp-server":                                   "serena start-mcp-server" + off,
		"serena-mcp-server --context ide":                           "serena-mcp-server --context ide" + off,
		"uvx --from serena-agent serena start-mcp-server":           "uvx --from serena-agent serena start-mcp-server" + off,
		"serena start-mcp-server --open-web-dashboard true --log x": "serena start-mcp-server --open-web-dashboard false --log x",
		"serena start-mcp-server --open-web-dashboard=1 -- /p":      "serena start-mcp-server --open-web-dashboard=false -- /p",
		"serena start-mcp-server -- /p":                             "serena start-mcp-server --open-web-dashboard false -- /p",
		"serena start-mcp-server --open-web-dashboard":              "serena start-mcp-server" + off,
		"serena start-mcp-server --open-web-dashboard --project x":  "serena start-mcp-server --open-web-dashboard false --project x",
		"serena start-mcp-server --open-web-dashboard no":           "serena start-mcp-server --open-web-dashboard no",
		"serena start-mcp-server --enable-web-dashboard false":      "serena start-mcp-server --enable-web-dashboard false",
		"bash -c serena": "bash -c serena",
	} {
		words := strings.Fields(command)
		got := closePage("linux", words)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", command, got)
		}
		if strings.Join(words, " ") != command {
			t.Errorf("%s was changed", command)
		}
		if again := closePage("linux", got); !slices.Equal(again, got) {
			t.Errorf("%s: %q when closed again", command, again)
		}
		before := strings.Fields(command)
		if back := reopenPage("linux", got, before); !strings.Contains(command, "-web-dashboard") && !slices.Equal(back, before) {
			t.Errorf("%s: %q when reopened", command, back)
		}
	}
	if got := closePage("windows", strings.Fields("cmd /c serena start-mcp-server")); strings.Join(got, " ") != "cmd /c serena start-mcp-server"+off {
		t.Error(got)
	}
}
