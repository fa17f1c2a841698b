// Package doctor examines this installation and the machine around it, and says
// what is well, what is not, what that means and what to do about it.
//
// Each area has a file of its own: facts are gathered at the edge, within a time
// limit and side by side, and a pure function judges them. Nothing is changed or
// made: no directory of ours, no file, no lock. Candidates for starting Serena are
// run to ask for their version, with a home for Serena and uv that is thrown
// away afterwards; uv may note something in its own cache, where there is one.
// Other copies of this program are not run: their versions are read from their files.
package doctor

import (
	"context"
	"slices"

	"lamplighter/app/config"
	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Mark says how a line is.
type Mark string

// The marks.
const (
	OK     Mark = "ok"
	Warn   Mark = "warn"   // works, but not as it could, or not for everybody
	Broken Mark = "broken" // something that should work does not
)

// Area is what a line is about, as its heading.
type Area string

// The areas, in the order of a report.
const (
	Program   Area = "Lamplighter"
	Serena    Area = "Serena"
	Path      Area = "PATH"
	Desktop   Area = "Desktop"
	PortsArea Area = "Ports"
	Files     Area = "Files"
	Settings  Area = "Settings"
	Sharing   Area = "Sharing"
	Clients   Area = "Clients"
	Login     Area = "Start at login"
	Registry  Area = "Registry"
	Safety    Area = "Other users"
)

// Line is one thing that was found. Its text is safe to show.
type Line struct {
	Area  Area   `json:"area"`
	Mark  Mark   `json:"mark"`
	Text  string `json:"text"`  // what was found
	Means string `json:"means"` // what follows from it; "" where that is plain
	Do    string `json:"do"`    // what to do about it; "" for nothing

	// Candidate is the verdict on one way to start Serena, in lines about one.
	Candidate *Candidate `json:"candidate,omitempty"`
	// Facts are what a server is shared by, one each, in the line about that.
	Facts []string `json:"facts,omitempty"`
	// Files are the settings of a client, in the line about that.
	Files []ClientFile `json:"files,omitempty"`
}

// Candidate is a way to start Serena and what became of it.
type Candidate struct {
	Command     []string       `json:"command"`
	Source      string         `json:"source"`
	Works       bool           `json:"works"`
	Chosen      bool           `json:"chosen"` // it is the one that would be started
	Version     string         `json:"version"`
	Problem     launch.Problem `json:"problem"`
	Detail      string         `json:"detail"`
	Stderr      []string       `json:"stderr"`
	Interpreter string         `json:"interpreter"`
	SysPath     []string       `json:"sys_path"`
	Untrusted   bool           `json:"untrusted"` // the project's own, not run
}

// Report is all lines, in the order of the areas.
type Report struct{ Lines []Line }

// Broken reports whether something is.
func (r Report) Broken() bool {
	return slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Mark == Broken })
}

// MarshalJSON writes {"ok": …, "lines": […]}. Paths stay readable: nothing is
// escaped for the sake of HTML.
func (r Report) MarshalJSON() ([]byte, error) {
	lines := r.Lines
	if lines == nil {
		lines = []Line{}
	}
	return monitor.JSON(struct {
		OK    bool   `json:"ok"`
		Lines []Line `json:"lines"`
	}{!r.Broken(), lines}, "")
}

// Finder finds out how Serena could be started: launch.Finder.
type Finder interface {
	CheckAll(ctx context.Context, w launch.Wanted) []launch.Verdict
	Resolve(ctx context.Context, w launch.Wanted) (launch.Resolution, error)
	LoginPath(ctx context.Context) (string, error)
}

// Options are what Examine is to look at.
type Options struct {
	Version   string        // of this program
	Self      string        // path of our executable, "" when it is not known
	Home      string        // the user's, "" for none
	Places    config.Places // of our files
	Environ   []string      // of this process
	Directory string        // where the user is; its virtual environments are listed

	// Finder makes a finder that sees this environment. Where the environment of
	// the background process can be read, it is that one.
	Finder func(environ []string) Finder
	// Installer tells how this program is installed.
	Installer Installer
	// Scan lists the servers where no background process does.
	Scan func(ctx context.Context) ([]*view.Server, error)
	// Clients lists the settings of MCP clients, as this command would find them;
	// nil without a home directory.
	Clients Lister
}

// Examine looks at everything. It takes as long as the slowest check, at most
// about a minute and a half.
func Examine(ctx context.Context, o Options) Report {
	w := look(ctx, o)
	defer w.away.remove()
	return Report{Lines: sideBySide(ctx, []check{
		{Program, "how Lamplighter is installed", quick, func(context.Context) []Line { return judgeProgram(gatherProgram(o, w)) }},
		{Serena, "how Serena can be started", patient, func(ctx context.Context) []Line { return examineSerena(ctx, o, w) }},
		{Path, "the PATH of the login shell", shell, func(ctx context.Context) []Line { return judgePath(gatherPath(ctx, o, w)) }},
		{Desktop, "the desktop", bus, func(ctx context.Context) []Line { return judgeDesktop(gatherDesktop(ctx, w)) }},
		{PortsArea, "the ports", quick, func(ctx context.Context) []Line { return judgePorts(gatherPorts(ctx, w)) }},
		{Files, "the files of Lamplighter", quick, func(ctx context.Context) []Line { return judgeFiles(gatherFiles(ctx, o, w)) }},
		{Settings, "the settings", quick, func(context.Context) []Line { return judgeSettings(gatherSettings(o, w)) }},
		{Sharing, "what clients share", patient, func(ctx context.Context) []Line { return judgeSharing(gatherSharing(ctx, o, w)) }},
		{Clients, "the settings of MCP clients", quick, func(context.Context) []Line { return judgeClients(gatherClients(o, w)) }},
		{Login, "what starts at login", quick, func(context.Context) []Line { return judgeAutostart(gatherAutostart(o, w)) }},
		{Registry, "the registry of Serena servers", quick, func(ctx context.Context) []Line { return judgeRegistry(gatherRegistry(ctx, o)) }},
		{Safety, "who else is logged in", quick, func(context.Context) []Line { return judgeUsers(gatherUsers()) }},
	})}
}
