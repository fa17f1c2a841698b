package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"lamplighter/app/config"
	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// portFacts are a port that Lamplighter wants, and who has it.
type portFacts struct {
	port   int // 0: the settings do not want it
	use    use
	holder holder
	runs   bool   // the background process does
	pid    int    // of it
	page   string // where the page is served, "" when it is not
}

// use is what a port is for.
type use int

const (
	forPage use = iota
	forSessions
	forTray
)

// holder is who listens on a port of the loopback interface.
type holder struct {
	taken bool
	pid   int    // 0: it is not ours to see
	name  string // of the program
	err   error  // it is not known
}

func gatherPorts(ctx context.Context, w world) []portFacts {
	page := config.Layers(w.settings.Layer, w.serena)
	wanted := []portFacts{{use: forPage, port: page.Port}, {use: forSessions, port: w.settings.Sessions().Port}, {use: forTray, port: serena.TrayPort}}
	if !page.On {
		wanted[0].port = 0
	}
	listeners, err := process.ListenersOf(w.table)
	if len(w.table) == 0 {
		err = errors.New("the process table cannot be read")
	}
	for i := range wanted {
		f := &wanted[i]
		f.runs, f.pid, f.page = w.background.runs(), w.background.health.PID, w.background.address
		if f.port != 0 {
			f.holder = holderOf(ctx, f.port, listeners, w.table, err)
		}
	}
	return wanted
}

// holderOf finds who has a port. Where none of our processes has it, a
// connection shows whether somebody else does: nothing is sent on it.
func holderOf(ctx context.Context, port int, all []process.Listener, table []process.Info, err error) holder {
	if p, found := process.Holder(port, all, table); found {
		return holder{taken: true, pid: p.PID, name: programOf(p)}
	}
	dialer := net.Dialer{Timeout: time.Second}
	for _, host := range []string{"127.0.0.1", "::1"} {
		conn, dialErr := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if dialErr == nil {
			conn.Close()
			return holder{taken: true, err: err}
		}
	}
	return holder{}
}

// programOf names a process; of an interpreter also what it runs.
func programOf(in process.Info) string {
	name := monitor.Shorten(monitor.Clean(in.Name), 40)
	c := command.Parse(in.Exe, in.Args)
	if c.Runtime == 0 {
		return name
	}
	if c.Flag != "" {
		name += " " + c.Flag
	}
	return name + " " + monitor.Shorten(monitor.Clean(c.Label()), 40)
}

func (h holder) String() string {
	switch {
	case h.pid != 0:
		return fmt.Sprintf("%s (pid %d)", h.name, h.pid)
	case h.err != nil:
		return "a program that cannot be told"
	}
	return "another user's program, or one in a container"
}

func judgePorts(list []portFacts) []Line {
	var lines []Line
	for _, f := range list {
		lines = append(lines, judgePort(f))
	}
	return lines
}

func judgePort(f portFacts) Line {
	about := map[use]struct{ what, off, means, do string }{
		forPage: {
			"the global dashboard", "the settings switch the global dashboard off", "Lamplighter takes the next free port; the menu and lamplighter open know which.",
			"To have this one: end that program, or set web_dashboard_global_port to a free port.",
		},
		forSessions: {
			"sessions", "the settings switch the port for sessions off; they are answered with the global dashboard",
			"Clients that ask for sessions here reach that program. Lamplighter answers them on the port of the global dashboard.",
			"End that program (Jupyter takes 8888 by default), or set session_port and your clients to a free port.",
		},
		forTray: {
			"registrations of Serena", "", "Serena servers that want to register do so there. Lamplighter finds them by scanning instead, within a second.", "",
		},
	}[f.use]
	ours := f.runs && f.holder.pid == f.pid && f.pid != 0
	switch {
	case f.port == 0:
		return Line{Mark: OK, Text: about.off}
	case ours:
		return Line{Mark: OK, Text: fmt.Sprintf("port %d, for %s: the background process has it", f.port, about.what)}
	case f.holder.taken && f.use == forPage && elsewhere(f.page, f.port):
		return Line{
			Mark: Warn, Text: fmt.Sprintf("port %d, for %s: %s has it", f.port, about.what, f.holder),
			Means: "The page is served at " + f.page + " instead.", Do: about.do,
		}
	case f.holder.taken && f.use == forPage && f.page != "":
		return Line{Mark: OK, Text: fmt.Sprintf("port %d, for %s: it is served there", f.port, about.what)}
	case f.holder.taken:
		return Line{Mark: Warn, Text: fmt.Sprintf("port %d, for %s: %s has it", f.port, about.what, f.holder), Means: about.means, Do: about.do}
	case f.runs:
		return Line{
			Mark: Warn, Text: fmt.Sprintf("port %d, for %s: nobody has it, although the background process runs", f.port, about.what),
			Means: "It could not take it, or is about to.", Do: "See lamplighter.log in the state directory.",
		}
	}
	return Line{Mark: OK, Text: fmt.Sprintf("port %d, for %s: it is free", f.port, about.what)}
}

// elsewhere reports whether a page is served on another port.
func elsewhere(page string, port int) bool {
	u, err := url.Parse(page)
	return page != "" && err == nil && u.Port() != strconv.Itoa(port)
}
