package doctor

import (
	"errors"
	"strings"
	"testing"

	"lamplighter/installer"
)

func TestJudgeInstalled(t *testing.T) {
	by := func(kind installer.Kind, how string) installedFacts {
		return installedFacts{Installation: installer.Installation{Kind: kind, How: how}, command: "lamplighter"}
	}
	with := func(f installedFacts, change func(*installedFacts)) installedFacts { change(&f); return f }
	hand := by(installer.ByHand, "")
	for name, test := range map[string]struct {
		facts installedFacts
		mark  Mark
		want  string
	}{
		"not installed": {by(installer.None, ""), OK, "ok: it is not installed: it runs from where it was built or unpacked"},
		"by hand":       {hand, OK, "ok: it was installed by lamplighter install"},
		"deb":           {by(installer.Package, "deb"), OK, "ok: it came with a package (deb)"},
		"app":           {by(installer.Package, "app"), OK, "ok: it came with an application bundle"},
		"interrupted":   {with(hand, func(f *installedFacts) { f.Unfinished = true }), Broken, "an installation was interrupted | Some of its files may be those of the version before. | Install again, which completes it: lamplighter install\n"},
		"no receipt":    {with(hand, func(f *installedFacts) { f.err = errors.New("not JSON") }), Broken, "broken: not JSON | What is installed is not known, and uninstall could not take it away. | Install again: lamplighter install"},
		"gone": {with(hand, func(f *installedFacts) { f.gone = "/h/l" }), Warn,
			"something that was installed is not there any more: /h/l | Somebody has removed it since. | Put it back: lamplighter install. Take the rest away: lamplighter uninstall\n"},
	} {
		lines := judgeInstalled(test.facts)
		if worst(lines) != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: want %s with %q:\n%s", name, test.mark, test.want, said(lines))
		}
	}
}
