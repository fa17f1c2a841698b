package doctor

import (
	"strings"
	"testing"
)

func TestJudgeCopies(t *testing.T) {
	self := copyOf{path: "/w/bin/lamplighter", key: "/w/bin", version: "2.0", self: true, runs: true}
	hand := copyOf{path: "/h/bin/lamplighter", key: "/h/bin", version: "1.0", byHand: true, typed: true, login: true}
	deb := copyOf{path: "/usr/bin/lamplighter", key: "/usr/bin", version: "1.0", kind: "deb"}
	stray := copyOf{path: "/s/lamplighter", key: "/s"}
	as := func(c copyOf, change func(*copyOf)) *copyOf { change(&c); return &c }
	mine := as(hand, func(c *copyOf) { c.self = true })
	for name, test := range map[string]struct {
		list copies
		want string
	}{
		"none": {nil, ""},
		"one":  {copies{&hand}, ""},
		"newer than what is installed": {copies{&self, &hand},
			"there are 2 lamplighters: /w/bin/lamplighter (2.0): this command, what runs in the background; /h/bin/lamplighter (1.0): what a shell runs, what starts at login | " +
				"They are of different versions, and what you type may not be what runs in the background. | To bring /h/bin/lamplighter up to this one: COMMAND install\n"},
		"installed from here":           {copies{as(self, func(c *copyOf) { c.runs = false }), as(hand, func(c *copyOf) { c.twin = true })}, ""},
		"installed from here, and runs": {copies{&self, as(hand, func(c *copyOf) { c.twin = true })}, "there are 2 lamplighters"},
		"hides a package": {copies{mine, &deb}, "A shell runs /h/bin/lamplighter, which hides /usr/bin/lamplighter of the package: its upgrades change nothing for you. | " +
			"Keep one of them. The package: /h/bin/lamplighter uninstall. The other: sudo apt remove lamplighter."},
		"a stray one hides a package": {copies{as(stray, func(c *copyOf) { c.typed = true }), &deb}, "The package: remove /s/lamplighter and lamplighter-connect beside it."},
		"a package and by hand": {copies{as(deb, func(c *copyOf) { c.typed, c.kind = true, "rpm" }), as(hand, func(c *copyOf) { c.typed = false })},
			"Keep one of them. The package: /h/bin/lamplighter uninstall. The other: sudo rpm -e lamplighter."},
		"a stray one besides": {copies{mine, &stray}, "/s/lamplighter (version not known) | What you type may not be what runs in the background. | To keep /h/bin/lamplighter alone: remove /s/lamplighter"},
		"a stray one runs":    {copies{mine, as(stray, func(c *copyOf) { c.runs = true })}, "| To have /h/bin/lamplighter run in place of the others: /h/bin/lamplighter install\n"},
		"one runs, and one besides": {copies{mine, as(stray, func(c *copyOf) { c.runs = true }), {path: "/t/lamplighter", key: "/t"}},
			"| To keep /h/bin/lamplighter alone: remove /t/lamplighter and lamplighter-connect beside it\n"},
		"what runs hides a package": {copies{as(stray, func(c *copyOf) { c.typed, c.runs = true, true }), &deb}, "The package: quit it from its menu, then remove /s/lamplighter"},
		"none installed":            {copies{&self, &stray}, "Remove those that you do not want."},
		"a setup program":           {copies{&self, as(deb, func(c *copyOf) { c.kind, c.typed, c.byHand = "setup", true, true })}, "Remove those"},
	} {
		lines := judgeCopies(test.list, "COMMAND")
		if got := said(lines); test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: want %q:\n%s", name, test.want, got)
		}
	}
}

func TestCommand(t *testing.T) {
	for want, l := range map[string]copies{
		"lamplighter": {{self: true, typed: true}},
		`"/a b/l"`:    {{self: true}, {typed: true}},
	} {
		if got := l.command("/a b/l"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := copies(nil).command(""); got != "lamplighter" {
		t.Error(got)
	}
}
