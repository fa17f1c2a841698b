package doctor

import (
	"fmt"

	"lamplighter/app/launch"
)

// limitation is what some versions of Serena cannot do.
type limitation struct {
	from, before string // versions: from is the first that has it, "" for all; before the first that has it no more, "" for none
	mark         Mark
	what, do     string // what is prefixed by the version
}

// known are the limitations that matter to us.
//
// Source: Serena's own repository, and measurements with 1.5.3, 1.7.0 and
// 2.1.0; see docs/measured.md.
var known = []limitation{
	{"", "1.0.0", Broken, "does not speak MCP over HTTP, and its dashboard tells nothing of its state: it can be shown, but not started for a session.", upgrade},
	{"", "1.1.0", Warn, "does not tell its own version.", upgrade},
	{"", "1.2.0", Warn, "cannot register itself (tray_manager): it is found by scanning, within a second.", upgrade},
	{"", "1.5.0", Warn, "mixes up several HTTP sessions: one such server is for one client only.", upgrade},
	{"", "1.6.0", Warn, "answers questions about its configuration behind the tool that runs: during a long call its project may be shown late.", upgrade},
	{"", "1.8.0", Warn, "races with another one that starts for the first time at the same moment: Lamplighter starts them one at a time, assistants do not.", upgrade},
	{"", "2.0.0", Warn, "answers nobody while a tool runs, and waits without limit for open streams when it is to end: ending it may need force.", upgrade},
	{"2.0.0", "", OK, "can have the agent interface REPL, its default, which keeps variables in memory for 48 hours: ending such a server loses them.", ""},
}

const upgrade = "Upgrade: uv tool upgrade serena-agent"

// limitations are those of a version, the remedy said once, with the last one
// that has it. A version that cannot be read has none that are known.
func limitations(version string) []Line {
	if !launch.Readable(version) {
		return nil
	}
	var lines []Line
	for _, k := range known {
		if (k.from == "" || launch.CompareVersions(version, k.from) >= 0) && (k.before == "" || launch.CompareVersions(version, k.before) < 0) {
			lines = append(lines, Line{Mark: k.mark, Text: fmt.Sprintf("Serena %s %s", version, k.what), Do: k.do})
		}
	}
	for i := range lines[:max(len(lines)-1, 0)] {
		if lines[i].Do == lines[i+1].Do {
			lines[i].Do = ""
		}
	}
	return lines
}
