package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lamplighter/app/config"
	"lamplighter/app/setup"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
	"lamplighter/app/socket"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// sharingFacts are what stands between clients and a server that they share.
type sharingFacts struct {
	place  string
	pipe   bool
	at     entry
	reach  error // why connecting fails; only tried while the background process runs
	runs   bool
	pid    int  // of the background process
	waits  bool // a program other than that listens, and starts it with the first client
	known  bool // whether one does
	others []string
	users  error // others is not known
	holds  config.Sharing
	wrong  error    // with IdleShutdownVariable
	needed []string // names of clients that connect to it, by their settings

	instances []*view.Server

	here     string // the directory whose Serena would be shared; "" when that was not looked at
	plan     share.Plan
	planning error
}

// exampleCommand is what a client would run, for the parts of its key.
var exampleCommand = []string{"serena", "start-mcp-server", "--context", "ide", "--project-from-cwd"}

func gatherSharing(ctx context.Context, o Options, w world) sharingFacts {
	f := sharingFacts{
		place: o.Places.ShareSocket, pipe: isPipe(o.Places.ShareSocket), runs: w.background.runs(), pid: w.background.health.PID, instances: w.background.instances,
	}
	over, err := config.IdleShutdown(func(name string) string { return variable(w.environ, name) })
	f.holds, f.wrong = w.settings.Sharing(over), err
	f.needed = connecting(w.clients.all)
	f.others, f.users = share.LoggedIn()
	switch {
	case f.place == "":
	case f.runs:
		f.reach = reachShare(ctx, f.place)
	default: // a connection would have systemd start it
		f.waits, f.known = listened(f.place)
	}
	if f.place != "" && !f.pipe {
		f.at = entryAt(f.place)
	}
	if o.Directory == "" || w.finder == nil {
		return f
	}
	planned := share.NewPlanner(ctx, share.PlannerOptions{
		Finder: w.finder, Environment: func(context.Context, ...string) []string { return o.Environ },
		OthersLoggedIn: share.LoggedIn, Allowed: func() bool { return true },
	})
	f.plan, f.planning = planned.Plan(ctx, share.Request{Dir: o.Directory, Command: exampleCommand, Env: relevant(o.Environ)})
	f.here = o.Directory
	return f
}

// connecting are the names of the clients that start a server through
// lamplighter-connect.
func connecting(all []setup.Client) []string {
	var names []string
	for _, c := range all {
		if slices.ContainsFunc(c.Files, func(file setup.File) bool {
			return slices.ContainsFunc(file.Entries, func(e setup.Entry) bool { return !e.Off && (e.State == setup.Shared || e.State == setup.Other) })
		}) {
			names = append(names, c.Name)
		}
	}
	return names
}

// relevant are those variables that a client's lamplighter-connect would send.
func relevant(environ []string) []string {
	var list []string
	for _, v := range environ {
		if name, _, ok := strings.Cut(v, "="); ok && wire.Relevant(name) {
			list = append(list, v)
		}
	}
	return list
}

// reachShare connects to the share socket, and says nothing there.
func reachShare(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := socket.Dial(ctx, socket.Share(path))
	if err != nil {
		return err
	}
	return conn.Close()
}

func judgeSharing(f sharingFacts) []Line {
	lines := []Line{judgeShareSocket(f)}
	if f.wrong != nil {
		lines = append(lines, Line{Mark: Warn, Text: f.wrong.Error(), Do: "Correct it in the environment that starts Lamplighter."})
	}
	lines = append(lines, judgeOthers(f)...)
	lines = append(lines, judgeShared(f.instances)...)
	return append(lines, judgeKey(f)...)
}

// judgeShareSocket is about where clients connect.
func judgeShareSocket(f sharingFacts) Line {
	const means, another = "No client can share a server.", "Set LAMPLIGHTER_SOCKET, for Lamplighter and for its clients, to a short absolute path in a directory of your own."
	name := "the share socket " + f.place
	if f.pipe {
		name = "the share pipe " + f.place
	}
	switch {
	case f.place == "":
		return Line{Mark: Broken, Text: "the share socket has no place", Means: means, Do: "Set HOME, or LAMPLIGHTER_SOCKET to an absolute path."}
	case errors.Is(f.reach, socket.ErrPathTooLong), errors.Is(f.reach, socket.ErrNotAbsolute):
		return Line{Mark: Broken, Text: name + ": " + f.reach.Error(), Means: means, Do: another}
	case f.runs && f.reach != nil:
		return Line{
			Mark: Broken, Text: fmt.Sprintf("%s cannot be reached, although Lamplighter runs (pid %d): %v", name, f.pid, reason(f.reach)), Means: means,
			Do: "See its warnings in lamplighter status and lamplighter.log, then start it again.",
		}
	case f.runs:
		return Line{Mark: OK, Text: fmt.Sprintf("%s answers; Lamplighter (pid %d) runs", name, f.pid)}
	case f.at.exists && f.at.mode.Type() != fs.ModeSocket:
		return Line{Mark: Broken, Text: name + " is not a socket: something else lies there", Means: means, Do: "Move it away, or set LAMPLIGHTER_SOCKET to another path."}
	case f.at.exists && f.at.owner >= 0 && f.at.owner != f.at.us:
		return Line{Mark: Broken, Text: fmt.Sprintf("%s belongs to user id %d", name, f.at.owner), Means: means, Do: another}
	case f.waits:
		return Line{Mark: OK, Text: name + " waits for a client, with which Lamplighter starts"}
	case f.at.exists && f.known:
		return missed(f, name+" was left behind; the next start replaces it")
	case f.at.exists:
		return missed(f, name+" is there, and Lamplighter does not run")
	case f.at.err != nil && !errors.Is(f.at.err, fs.ErrNotExist):
		return Line{Mark: Broken, Text: fmt.Sprintf("%s cannot be looked at: %v", name, reason(f.at.err)), Means: means, Do: another}
	}
	return missed(f, name+" is not there, as Lamplighter does not run")
}

// missed is about a share socket that nobody serves because Lamplighter does not run,
// which matters once a client is set up to connect to it.
func missed(f sharingFacts, text string) Line {
	l := Line{Mark: OK, Text: text, Means: "Clients that run connect fail until Lamplighter runs, or with --or-direct have a server of their own."}
	if len(f.needed) > 0 {
		l.Mark, l.Text = Warn, text+"; those that connect to it: "+strings.Join(f.needed, ", ")
		l.Do = "Start it: lamplighter run. To have it start by itself: lamplighter install."
	}
	return l
}

// judgeOthers is about other users, who could reach a server that listens.
func judgeOthers(f sharingFacts) []Line {
	const alone = "Each client has a server of its own, over standard input and output. A server that listens asks nobody for a password."
	names := strings.Join(cleaned(f.others), ", ")
	switch {
	case len(f.others) > 0 && f.holds.WithOtherUsers:
		return []Line{{
			Mark: Warn, Text: "servers are shared although other users are logged in: " + names, Means: "Their programs could call the tools of these servers, which ask for no password.",
			Do: "Take share_with_other_users: true out of the settings, unless you trust them.",
		}}
	case f.holds.WithOtherUsers:
		return nil
	case len(f.others) > 0:
		return []Line{{
			Mark: Warn, Text: "no server is shared while other users are logged in: " + names, Means: alone,
			Do: "Where you trust them, put share_with_other_users: true into the settings; see SECURITY.md.",
		}}
	case f.users != nil:
		return []Line{{
			Mark: Warn, Text: fmt.Sprintf("no server is shared, because it is not known who else is logged in: %v", f.users), Means: alone,
			Do: "Where nobody else uses this machine, put share_with_other_users: true into the settings.",
		}}
	}
	return nil
}

func cleaned(names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, monitor.Shorten(monitor.Clean(name), 40))
	}
	return list
}

// judgeShared says who shares what now, and who does not and why.
func judgeShared(servers []*view.Server) []Line {
	var lines []Line
	for _, s := range servers {
		clients := view.ClientsInWords(s.Clients)
		switch {
		case s.SharedBy != nil:
			lines = append(lines, Line{Mark: OK, Text: fmt.Sprintf("%s is shared: %s", s.Label, clients)})
		case s.AloneBecause != nil:
			lines = append(lines, Line{Mark: OK, Text: fmt.Sprintf("%s is not shared, because %s (%s)", s.Label, *s.AloneBecause, clients)})
		}
	}
	return lines
}

// judgeKey says what a command of the user's directory would be shared by.
func judgeKey(f sharingFacts) []Line {
	command := strings.Join(exampleCommand, " ")
	switch {
	case f.here == "", f.planning != nil: // the lines about Serena say why there is none
		return nil
	case f.plan.Alone != "":
		return []Line{{Mark: OK, Text: fmt.Sprintf("“%s” in %s would not be shared: %s", command, f.here, f.plan.Alone)}}
	}
	return []Line{{
		Mark: OK, Text: fmt.Sprintf("“%s” in %s would be shared by whoever has the same", command, filepath.Clean(f.here)), Facts: slices.Clone(f.plan.Facts),
	}}
}

// factsInShort are facts for people: of those that are many, how many.
func factsInShort(facts []string) []string {
	var short []string
	programs, variables := 0, 0
	for _, fact := range facts {
		switch {
		case strings.HasPrefix(fact, "PATH finds "):
			programs++
		case strings.HasPrefix(fact, "variable "):
			variables++
		default:
			short = append(short, fact)
		}
	}
	var rest []string
	if programs > 0 {
		rest = append(rest, monitor.Plural(programs, "program", "programs")+" of the PATH")
	}
	if variables > 0 {
		rest = append(rest, monitor.Plural(variables, "variable", "variables"))
	}
	if len(rest) > 0 {
		short = append(short, strings.Join(rest, ", ")+" (all of it with --json)")
	}
	return short
}
