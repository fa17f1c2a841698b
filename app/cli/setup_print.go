package cli

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"lamplighter/app/setup"
	"lamplighter/monitor"
)

// setupWords says for people what is in the settings of clients, and what becomes
// of it. Paths below the home directory begin with ~.
type setupWords struct {
	home    string
	screen  screen
	options setupOptions
}

// short is foreign text on one line, with ~ for the home directory.
func (s setupWords) short(line string) string {
	line = monitor.Clean(line)
	home := monitor.Clean(s.home)
	if len(home) < 2 {
		return line
	}
	for _, separator := range []string{"/", `\`} {
		line = strings.ReplaceAll(line, home+separator, "~"+separator)
	}
	return line
}

// entry is the name of an entry, with the directory that it counts for where the
// file has several.
func (s setupWords) entry(e setup.Entry) string {
	name := monitor.Clean(e.Name)
	if folder := e.Folder(); folder != "" {
		name += " for " + s.short(folder)
	}
	return name
}

func (s setupWords) entries(list []setup.Entry) string {
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = s.entry(e)
	}
	return strings.Join(names, ", ")
}

// beside is a path as one says it to who knows of another: its name, when both
// are in one directory.
func (s setupWords) beside(path, other string) string {
	if filepath.Dir(path) == filepath.Dir(other) {
		return monitor.Clean(filepath.Base(path))
	}
	return s.short(path)
}

// The most that a name has of a line.
const entryMost = 30

// list draws clients with their files and entries: one line for each entry, the
// state first, and below it what is to be known of it.
func (s setupWords) list(clients []setup.Client) string {
	var b strings.Builder
	var absent []string
	widest, changes := 0, 0
	for _, c := range clients {
		for _, f := range c.Files {
			for _, e := range f.Entries {
				widest = max(widest, text.StringWidthWithoutEscSequences(monitor.Shorten(s.entry(e), entryMost)))
				if e.Becomes != "" {
					changes++
				}
			}
		}
	}
	for _, c := range clients {
		if !c.Found() {
			absent = append(absent, monitor.Clean(c.Name))
			continue
		}
		for _, f := range c.Files {
			if f.Exists {
				s.file(&b, c, f, widest)
			}
		}
	}
	if len(absent) == len(clients) {
		return s.noClients(clients)
	}
	if changes > 0 {
		b.WriteString(changeable(changes) + "\n")
	}
	if len(absent) > 0 {
		b.WriteString("Not found: " + strings.Join(absent, ", ") + "\n")
	}
	return b.String()
}

func changeable(entries int) string {
	return "lamplighter setup would change " + monitor.Plural(entries, "entry", "entries") + "; with --dry-run it shows how."
}

// file draws one file of a client.
func (s setupWords) file(b *strings.Builder, c setup.Client, f setup.File, widest int) {
	head := s.short(f.Path)
	if c.Name != "" {
		head = monitor.Clean(c.Name) + ", " + head
	}
	var about []string
	if f.Scope == setup.Project {
		about = append(about, "of the project here")
	}
	if len(c.Running) > 0 {
		about = append(about, "it runs")
	}
	if len(about) > 0 {
		head += " (" + strings.Join(about, "; ") + ")"
	}
	b.WriteString(head + "\n")
	if f.Changed != nil {
		note := "Changed by setup on " + f.Changed.Local().Format("2 Jan 2006 15:04") + "."
		if f.Backup != "" {
			note += " Before: " + s.beside(f.Backup, f.Path)
		}
		b.WriteString(s.note(note, 2))
	}
	switch {
	case f.Problem != "":
		b.WriteString(s.note(s.short(f.Problem), 2))
	case f.Note != "":
		b.WriteString(s.note(f.Note, 2))
	case len(f.Entries) == 0:
		b.WriteString("  No MCP servers.\n")
	}
	for _, e := range f.Entries {
		name := monitor.Shorten(s.entry(e), entryMost)
		name += strings.Repeat(" ", max(widest-text.StringWidthWithoutEscSequences(name), 0))
		runs := e.Runs
		if runs == "" {
			runs = "-"
		}
		state := entryWord(e)
		state += strings.Repeat(" ", max(stateWidth-len(state), 0))
		room := s.screen.width
		if room < narrowest {
			room = 0
		}
		line := cut("  "+state+"  "+name+"  "+s.short(runs), room)
		if s.screen.colour {
			line = strings.Replace(line, state, colourOf(e)+state+"\x1b[0m", 1)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		for _, note := range s.notes(c, e) {
			b.WriteString(s.note(note, 4))
		}
	}
}

// stateWidth is that of the longest state.
const stateWidth = 6

// entryWord is the state of an entry for people. What runs through lamplighter-connect
// and cannot be shared is not called shared.
func entryWord(e setup.Entry) string {
	if e.IsAlone() {
		return "alone"
	}
	return string(e.State)
}

func colourOf(e setup.Entry) string {
	switch {
	case entryWord(e) != string(e.State):
	case e.State == setup.Shared:
		return "\x1b[32m"
	case e.State == setup.Other, e.State == setup.Odd:
		return "\x1b[33m"
	case e.State == setup.Gone:
		return "\x1b[31m"
	}
	return "\x1b[90m"
}

// note is a line below what it is about, in as many lines as it needs.
func (s setupWords) note(line string, indent int) string {
	margin := strings.Repeat(" ", indent)
	if room := s.screen.width - indent; s.screen.width >= narrowest {
		line = text.WrapSoft(line, room)
	}
	var b strings.Builder
	for part := range strings.SplitSeq(line, "\n") {
		b.WriteString(margin + strings.TrimRight(part, " ") + "\n")
	}
	return b.String()
}

// notes are what is to be known of an entry beyond its state.
func (s setupWords) notes(c setup.Client, e setup.Entry) []string {
	var list []string
	if e.Off {
		by := "the client"
		if c.Name != "" {
			by = monitor.Clean(c.Name)
		}
		list = append(list, "Switched off in "+by+".")
	}
	switch e.State {
	case setup.Other:
		list = append(list, "It runs the lamplighter-connect of another installation.")
	case setup.Gone:
		list = append(list, "Its lamplighter-connect "+cmp.Or(e.Broken, "is not there")+".")
	}
	if e.Now != "" {
		list = append(list, "Runs now: "+e.Now+".")
	}
	switch {
	case e.Why != "":
		list = append(list, s.short(e.Why))
	case e.Missing != "":
		list = append(list, "Its program "+s.short(e.Missing)+" is not found.")
	}
	if e.IsAlone() || e.Serena && e.Alone != "" {
		list = append(list, "It cannot be shared, so its server is its own: "+s.short(e.Alone)+".")
	}
	switch {
	case e.PageStops:
		list = append(list, "It opens Serena's own page for every server; --no-page stops that.")
	case e.OpensPage:
		list = append(list, "It opens Serena's own page for every server.")
	}
	return list
}

func (s setupWords) noClients(clients []setup.Client) string {
	if s.options.client != "" && len(clients) == 1 {
		c := clients[0]
		line := monitor.Clean(c.Name) + " has no settings yet"
		if len(c.Files) > 0 {
			line += ": there is no " + s.short(c.Files[0].Path)
		}
		return line + ". Start it once, or add a server with it, then run this again.\n"
	}
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = monitor.Clean(c.Name)
	}
	line := "No settings of MCP clients were found."
	if len(names) > 0 {
		line += " Looked for those of " + strings.Join(names, ", ") + "."
	}
	return line + "\nAdd Serena in your client, then run this again; or name its file: lamplighter setup --file FILE\n"
}

// nothingElse says that there is nothing to do but what is left alone.
func (s setupWords) nothingElse() string {
	if s.options.undo {
		return "Nothing else to take out.\n"
	}
	return "Nothing else to change.\n"
}

// nothing says why there is nothing to do.
func (s setupWords) nothing(clients []setup.Client) string {
	found, shared := 0, 0
	for _, c := range clients {
		if c.Found() {
			found++
		}
		for _, f := range c.Files {
			for _, e := range f.Entries {
				if e.State == setup.Shared {
					shared++
				}
			}
		}
	}
	switch {
	case s.options.undo && len(s.options.servers) > 0:
		return "Nothing to take out: these entries do not run lamplighter-connect. lamplighter setup --list shows them.\n"
	case s.options.undo:
		return "Nothing to take out: no entry runs lamplighter-connect.\n"
	case found == 0:
		return s.noClients(clients)
	case len(s.options.servers) > 0:
		return "Nothing to change: these entries are as they should be. lamplighter setup --list shows them.\n"
	case s.options.file != "" && len(clients) == 1 && len(clients[0].Files) == 1 && len(clients[0].Files[0].Entries) == 0 && clients[0].Files[0].Problem == "":
		return "Nothing to change: " + s.short(clients[0].Files[0].Path) + " has no MCP servers.\n"
	case shared > 0:
		return "Nothing to change: every Serena that was found runs through lamplighter-connect.\n"
	}
	return "Nothing to change: no Serena was found. lamplighter setup --list shows what is there, and --server NAME chooses another server.\n"
}

// change says what came of a file, or would, in lines, and what is wrong with it.
func (s setupWords) change(c setup.Change, dry bool) (lines []string, problem string) {
	path := s.short(c.Path)
	if c.Problem != "" {
		problem = s.short(c.Problem)
		if !strings.Contains(problem, path) {
			problem = path + " is not changed: " + problem
		}
	}
	if len(c.Entries) > 0 && c.Problem == "" {
		lines = append(lines, s.changed(c, path, dry))
		for _, e := range c.Entries {
			if e.Alone != "" && e.Serena && !s.options.undo {
				lines = append(lines, "  "+s.entry(e)+" cannot be shared, so its server is its own: "+s.short(e.Alone)+".")
			}
			if e.Missing != "" {
				lines = append(lines, "  "+s.entry(e)+" will not start: its program "+s.short(e.Missing)+" is not found.")
			}
		}
	}
	if c.Problem != "" && c.Written && c.Backup != "" {
		lines = append(lines, "What "+path+" was before is in "+s.beside(c.Backup, c.Path)+".")
	}
	for _, e := range c.Left {
		lines = append(lines, "Left alone: "+s.entry(e)+" in "+path+". "+s.short(e.Why))
	}
	for _, kept := range c.Kept {
		lines = append(lines, "An older text of "+path+" stays in "+s.beside(kept, c.Path)+".")
	}
	return lines, problem
}

func (s setupWords) changed(c setup.Change, path string, dry bool) string {
	names := s.entries(c.Entries)
	backup := ""
	if c.Backup != "" {
		backup = s.beside(c.Backup, c.Path)
	}
	var line string
	switch {
	case s.options.undo && c.Whole && dry:
		return "Would put back " + path + " as it was, byte for byte: " + names + "."
	case s.options.undo && c.Whole:
		return "Put back " + path + " as it was, byte for byte: " + names + "."
	case s.options.undo:
		line = "Took lamplighter-connect out of " + path + ": " + names + ". Nothing else in it was changed."
		if dry {
			line = "Would take lamplighter-connect out of " + path + ": " + names + ". Nothing else in it would change."
		}
		if backup != "" {
			line += " Backup: " + backup
		}
		return line
	case dry:
		return "Would change " + path + ": " + names + ". It would be kept beside it as it is now."
	}
	line = "Changed " + path + ": " + names + "."
	if backup != "" {
		line += " Before: " + backup
	}
	return line
}

// restart says which clients are to be started again.
func (s setupWords) restart(running []string) string {
	if len(running) == 0 {
		return ""
	}
	names := make([]string, len(running))
	for i, name := range running {
		names[i] = monitor.Clean(name)
	}
	all := names[len(names)-1]
	if n := len(names) - 1; n > 0 {
		all = strings.Join(names[:n], ", ") + " and " + all
	}
	if s.options.undo {
		return "Restart " + all + " to go on without it.\n"
	}
	return "Restart " + all + " to use it.\n"
}

// page says how Serena's own page is stopped.
func (s setupWords) page() string {
	return "Serena opens a page of its own for every server. To stop that: " + s.options.again("--no-page") + "\n"
}
