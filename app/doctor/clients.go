package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/app/setup"
	"lamplighter/monitor"
)

// Lister lists the settings of MCP clients: setup.Setup.
type Lister interface {
	List(ctx context.Context, w setup.Wanted) ([]setup.Client, error)
}

// ClientFile is a file of a client's settings. What a server is started with is
// not told: it may hold a secret in a form that nobody foresaw.
type ClientFile struct {
	Path    string      `json:"path"`
	Project bool        `json:"project"` // others may share it
	Entries []FileEntry `json:"entries"`
}

// FileEntry is an MCP server in a client's settings.
type FileEntry struct {
	Name   string      `json:"name"`
	Folder string      `json:"folder,omitempty"` // that it counts for, "" for all
	Line   int         `json:"line"`             // in the file, from 1
	State  setup.State `json:"state"`
	Serena bool        `json:"serena"`
	Off    bool        `json:"off"`           // the client is told not to use it
	Now    string      `json:"now,omitempty"` // the servers that run from it: "4711 - alpha", "" for none
	alone  bool        // through lamplighter-connect, and not shared
}

// clientsFacts are the settings of clients that are there.
type clientsFacts struct {
	home bool // there is a home directory, and so a place for them
	listed
	serena string // path of Serena's own settings, "" when it is not known
}

// listed is what a Lister knows.
type listed struct {
	all []setup.Client
	err error
}

// listClients asks by for all clients. Without one there are none.
func listClients(ctx context.Context, limit time.Duration, by Lister) listed {
	if by == nil {
		return listed{}
	}
	l, err := within(ctx, limit, func(ctx context.Context) (l listed) {
		l.all, l.err = by.List(ctx, setup.Wanted{})
		return l
	})
	if err != nil {
		return listed{err: err}
	}
	return l
}

func gatherClients(o Options, w world) clientsFacts {
	return clientsFacts{home: o.Clients != nil, listed: w.clients, serena: serenaSettings(o)}
}

// judgeClients has a line for each client, one for each thing that is to be said
// about some of its entries, and one about Serena's own page for all of them.
func judgeClients(f clientsFacts) []Line {
	switch {
	case !f.home:
		return []Line{{Mark: Warn, Text: "there is no home directory, so the settings of MCP clients are not looked at"}}
	case f.err != nil:
		return []Line{{Mark: Warn, Text: fmt.Sprintf("the settings of MCP clients cannot be looked at: %v", f.err)}}
	}
	var lines []Line
	var known []string
	for _, c := range f.all {
		if known = append(known, c.Name); c.Found() {
			lines = append(lines, judgeClient(c)...)
		}
	}
	if len(lines) == 0 {
		return []Line{{Mark: OK, Text: "no settings of MCP clients are there; known are those of " + strings.Join(known, ", ")}}
	}
	return append(lines, judgePages(f)...)
}

// judgeClient is about one client.
func judgeClient(c setup.Client) []Line {
	sum := Line{Mark: OK, Files: clientFiles(c)}
	var broken []Line
	var found findings
	for _, file := range c.Files {
		switch {
		case !file.Exists:
			continue
		case file.Problem != "":
			line := Line{Mark: Warn, Text: c.Name + ": " + naming(file), Means: "A server that is started from it may be shown without its name."}
			if !strings.Contains(file.Problem, "left as it is") {
				line.Means = "lamplighter setup leaves this file as it is. " + line.Means
			}
			broken = append(broken, line)
			continue
		case file.Note != "":
			broken = append(broken, Line{Mark: Warn, Text: file.Path + ": " + file.Note})
		}
		for _, e := range file.Entries {
			if about, note := judgeEntry(c, file, e); about != (finding{}) {
				found.add(about, placeOf(file, e)+note)
			}
		}
	}
	lines := append(broken, found.lines()...)
	if len(sum.Files) == 0 { // none of them can be read
		return lines
	}
	sum.Text = c.Name + ": " + inAll(sum.Files)
	return append([]Line{sum}, lines...)
}

// naming is what is wrong with a file, with its path.
func naming(file setup.File) string {
	if strings.Contains(file.Problem, file.Path) {
		return file.Problem
	}
	return file.Path + ": " + file.Problem
}

// clientFiles are a client's files that are there and can be understood.
func clientFiles(c setup.Client) []ClientFile {
	var list []ClientFile
	for _, file := range c.Files {
		if !file.Exists || file.Problem != "" {
			continue
		}
		seen := ClientFile{Path: file.Path, Project: file.Scope == setup.Project, Entries: []FileEntry{}}
		for _, e := range file.Entries {
			seen.Entries = append(seen.Entries, FileEntry{Name: e.Name, Folder: e.Folder(), Line: e.Line, State: e.State, Serena: e.Serena, Off: e.Off, Now: e.Now, alone: e.IsAlone()})
		}
		list = append(list, seen)
	}
	return list
}

// inAll is the number of entries.
func inAll(files []ClientFile) string {
	servers, shared := 0, 0
	for _, f := range files {
		servers += len(f.Entries)
		for _, e := range f.Entries {
			if e.State == setup.Shared {
				shared++
			}
		}
	}
	switch {
	case servers == 0:
		return "no MCP servers"
	case shared == 0:
		return monitor.Plural(servers, "MCP server", "MCP servers")
	}
	return fmt.Sprintf("%s, %d through lamplighter-connect", monitor.Plural(servers, "MCP server", "MCP servers"), shared)
}

// stateWords are how a list of entries begins, in the order in which they are told.
var stateWords = []struct {
	state setup.State
	alone bool
	words string
}{
	{setup.Shared, false, "shared: "},
	{setup.Shared, true, "for one client each, through lamplighter-connect: "},
	{setup.Other, false, "through another installation: "},
	{setup.Gone, false, "through a lamplighter-connect that cannot run: "},
	{setup.Direct, false, "direct: "},
	{setup.Remote, false, "at an address: "},
	{setup.Odd, false, "not understood: "},
}

// inShort is a file for people, with the names of some of many entries, those of
// Serena first.
func (f ClientFile) inShort() string {
	const most = 6
	entries := slices.SortedStableFunc(slices.Values(f.Entries), func(a, b FileEntry) int {
		switch {
		case a.Serena == b.Serena:
			return 0
		case a.Serena:
			return -1
		}
		return 1
	})
	var parts []string
	for _, s := range stateWords {
		var names []string
		for _, e := range entries {
			if e.State != s.state || e.alone != s.alone {
				continue
			}
			name := shortName(e.Name)
			if e.Folder != "" {
				name += " for " + monitor.Clean(e.Folder)
			}
			if e.Off {
				name += " (off)"
			}
			if e.Now != "" {
				name += " (runs now: " + monitor.Shorten(e.Now, 80) + ")"
			}
			names = append(names, name)
		}
		if len(names) > 0 {
			parts = append(parts, s.words+some(names, most))
		}
	}
	path := f.Path
	if f.Project {
		path += " (the project's)"
	}
	if len(parts) == 0 {
		return path + ": no MCP servers"
	}
	return path + ": " + strings.Join(parts, "; ")
}

// some are the first of a list, and how many follow.
func some(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

func shortName(name string) string { return monitor.Shorten(monitor.Clean(name), 40) }

// placeOf says which entry is meant.
func placeOf(file setup.File, e setup.Entry) string {
	return fmt.Sprintf("%s (%s:%d)", shortName(e.Name), file.Path, e.Line)
}

// finding is what there is to say about an entry. Equal ones of a client are one
// line.
type finding struct {
	mark            Mark
	text, means, do string
}

// judgeEntry says what an entry needs, none when that is nothing, and what is to
// be said of this one alone.
func judgeEntry(c setup.Client, file setup.File, e setup.Entry) (about finding, note string) {
	verb := "lamplighter setup " + c.ID
	undo := verb + " --undo --server NAME" // without its name only what setup has written is taken out
	if file.Scope == setup.Project {
		verb = "lamplighter setup --file " + monitor.Quoted([]string{file.Path})
		undo = verb + " --undo"
	}
	switch {
	case e.Off: // the client does not start it
		return finding{}, ""
	case e.State == setup.Odd:
		return finding{Warn, c.Name + " has an entry that is not understood", e.Why, ""}, ""
	case e.State == setup.Gone:
		return finding{Broken, c.Name + " runs a lamplighter-connect that " + e.Broken, "It cannot start the server.", "Point it to this installation: " + verb + "; or take it out: " + undo}, ""
	case e.Missing != "":
		return finding{
			Warn, c.Name + " starts a program that is not found", "Where its PATH leads to it neither, it cannot start the server.",
			"Install the program, or write its full path into the settings.",
		}, " starts " + monitor.Shorten(monitor.Clean(e.Missing), 80)
	case e.State == setup.Other:
		return finding{Warn, c.Name + " runs the lamplighter-connect of another installation", "It works as long as that one stays.", "Point it to this one: " + verb}, ""
	case e.State == setup.Shared && e.Becomes != "": // nothing else changes one that is shared
		return finding{Warn, c.Name + " is not told the right place of Lamplighter's socket", "It may pass on too little of its environment for lamplighter-connect to find it.", "To name it: " + verb}, ""
	case e.IsAlone() && e.Serena:
		return finding{OK, c.Name + " runs a Serena through lamplighter-connect that is not shared, because " + e.Alone, "", ""}, ""
	case e.State == setup.Direct && e.Why != "":
		return finding{OK, c.Name + " starts a server that lamplighter setup leaves alone", e.Why, ""}, ""
	case e.State == setup.Direct && e.Serena && e.Alone != "":
		return finding{OK, c.Name + " starts a Serena directly that cannot be shared, because " + e.Alone, "Each of its windows has a server of its own.", "To see it in Lamplighter all the same: " + verb}, ""
	case e.State == setup.Direct && e.Serena:
		return finding{OK, c.Name + " starts Serena directly", "Each of its windows has a server of its own.", "To share one: " + verb}, ""
	}
	return finding{}, ""
}

// findings are what is to be said, with the entries that it is said of, in the
// order of the first ones.
type findings struct {
	order  []finding
	places map[finding][]string
}

func (f *findings) add(about finding, place string) {
	if f.places == nil {
		f.places = map[finding][]string{}
	}
	if f.places[about] == nil {
		f.order = append(f.order, about)
	}
	f.places[about] = append(f.places[about], place)
}

// lines are one for each, the worst first.
func (f *findings) lines() []Line {
	const most = 3
	worst := []Mark{Broken, Warn, OK}
	slices.SortStableFunc(f.order, func(a, b finding) int { return slices.Index(worst, a.mark) - slices.Index(worst, b.mark) })
	var lines []Line
	for _, about := range f.order {
		lines = append(lines, Line{Mark: about.mark, Text: about.text + ": " + some(f.places[about], most), Means: about.means, Do: about.do})
	}
	return lines
}

// judgePages is about Serena's own page, by what keeps it closed. The area
// Settings says it where no entry is known (see startsSerena).
func judgePages(f clientsFacts) []Line {
	var found findings
	for _, c := range f.all {
		for _, file := range c.Files {
			for _, e := range file.Entries {
				if e.OpensPage && !e.Off {
					found.add(pageOf(e, f.serena), c.Name+"'s "+placeOf(file, e))
				}
			}
		}
	}
	return found.lines()
}

// pageOf is about an entry that opens Serena's own page. serena is the path of
// Serena's settings, "" when it is not known.
func pageOf(e setup.Entry, serena string) finding {
	about := finding{mark: Warn, text: "each server of these entries opens a page of Serena's own in the browser", means: "Those that are shared do not."}
	var ways []string
	switch {
	case e.PageStops:
		ways = append(ways, "lamplighter setup --no-page")
	case e.Becomes != "":
		ways = append(ways, "To share them: lamplighter setup")
	}
	if serena != "" {
		const closed = "set web_dashboard_open_on_launch: false, or web_dashboard_interface: tray_manager, in "
		if ways == nil {
			ways = append(ways, "For all servers "+closed+serena+".")
		} else {
			ways = append(ways, "or for all servers "+closed+serena+".")
		}
	}
	about.do = strings.Join(ways, "; ")
	return about
}

// startsSerena reports whether a client is known to start Serena, so that the lines
// about clients say whether its page opens.
func startsSerena(all []setup.Client) bool {
	for _, c := range all {
		for _, file := range c.Files {
			if slices.ContainsFunc(file.Entries, func(e setup.Entry) bool { return e.Serena && !e.Off }) {
				return true
			}
		}
	}
	return false
}
