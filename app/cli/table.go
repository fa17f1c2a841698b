package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	prettytable "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"lamplighter/app/daemon"
	"lamplighter/monitor"
)

// narrowest is the width in columns below which nothing is cut any more: the
// terminal wraps instead.
const narrowest = 20

const nothingRuns = "No servers yet. Start your assistant and they appear here.\n"

// table draws a snapshot for people: state word first, one line per instance
// in the snapshot's order, and below what is not plainly live the reason, and who
// shares what is shared. The last line says what sharing saves.
func table(s *monitor.Snapshot, now time.Time, sc screen) string {
	if len(s.Instances) == 0 {
		return nothingRuns
	}
	if sc.width < narrowest {
		sc.width = 0
	}
	t := plainTable(sc.width)
	t.SetColumnConfigs([]prettytable.ColumnConfig{
		{Name: "MEMORY", Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Name: "CPU", Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Name: "IDLE", Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Name: "CALLS", Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Name: "PORT", Align: text.AlignRight, AlignHeader: text.AlignRight},
	})
	header := prettytable.Row{"STATE", "SERVER", "CLIENT", "CONTEXT", "MEMORY", "CPU", "IDLE", "CALLS", "PORT"}
	rows := make([]prettytable.Row, len(s.Instances))
	for i := range s.Instances {
		rows[i] = row(&s.Instances[i], now, sc.colour)
	}
	for _, name := range []string{"CONTEXT", "CALLS", "CPU", "CLIENT"} { // the least missed first
		if roomLeft(header, rows, sc.width) >= serverLeast || sc.width == 0 {
			break
		}
		header, rows = without(name, header, rows)
	}
	t.AppendHeader(header)
	clients := slices.Contains(header, any("CLIENT"))
	room := serverRoom(header, rows, sc.width)
	for i := range s.Instances {
		rows[i][serverColumn] = shortLabel(&s.Instances[i], room)
	}
	t.AppendRows(rows)
	var b strings.Builder
	for i, line := range strings.Split(t.Render(), "\n") {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if i == 0 || i > len(s.Instances) {
			continue
		}
		if why := why(&s.Instances[i-1], now, clients); why != "" {
			b.WriteString(cut("  "+why, sc.width) + "\n")
		}
	}
	if saved := s.Totals().SavedBytes; saved > 0 {
		b.WriteString(cut("Sharing saves "+monitor.Memory(saved)+".", sc.width) + "\n")
	}
	return b.String()
}

// plainTable is a table without lines, cut at a width, which is 0 for none.
func plainTable(width int) prettytable.Writer {
	t := prettytable.NewWriter()
	style := prettytable.StyleDefault
	style.Options = prettytable.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Box.UnfinishedRow = "…"
	style.Size.WidthMax = width
	t.SetStyle(style)
	return t
}

// The place of the server's label, or of a session's project, in a row, and the
// columns it gets: names are the only foreign text without a limit, so they give
// way to all others.
const (
	serverColumn = 1
	serverLeast  = 24
	serverMost   = 50
)

// serverRoom is how wide a label may be, given what the other columns leave of
// the terminal's width, which is 0 for none.
func serverRoom(header prettytable.Row, rows []prettytable.Row, width int) int {
	if width == 0 {
		return serverMost
	}
	return min(max(roomLeft(header, rows, width), serverLeast), serverMost)
}

// roomLeft is what all columns but the server's leave of a width.
func roomLeft(header prettytable.Row, rows []prettytable.Row, width int) int {
	for i := range header {
		if i == serverColumn {
			continue
		}
		widest := text.StringWidthWithoutEscSequences(header[i].(string))
		for _, r := range rows {
			widest = max(widest, text.StringWidthWithoutEscSequences(r[i].(string)))
		}
		width -= widest + 2
	}
	return width - 2
}

// without leaves a column out.
func without(name string, header prettytable.Row, rows []prettytable.Row) (prettytable.Row, []prettytable.Row) {
	i := slices.Index(header, any(name))
	cut := func(r prettytable.Row) prettytable.Row { return slices.Delete(slices.Clone(r), i, i+1) }
	for k := range rows {
		rows[k] = cut(rows[k])
	}
	return cut(header), rows
}

// shortLabel is the label with its name shortened, so that the pid stays.
func shortLabel(in *monitor.Instance, room int) string {
	label, name := in.Label(), in.Name()
	head := strings.TrimSuffix(label, name)
	return head + monitor.Shorten(name, max(room-monitor.Columns(head), 1))
}

// clientMost is the limit of a client's name, which may be any program's.
const clientMost = 20

func row(in *monitor.Instance, now time.Time, colour bool) prettytable.Row {
	state := in.State.Words()
	if colour {
		state = paint(in.State, state)
	}
	r := prettytable.Row{state, in.Label(), orDash(clientCell(in)), orDash(monitor.Shorten(monitor.Clean(in.Context), clientMost)), "-", "-", idle(in, now), "-", "-"}
	if in.RSSBytes > 0 {
		r[4] = monitor.Memory(in.RSSBytes)
	}
	if in.CPUPercent != nil {
		r[5] = fmt.Sprintf("%.0f %%", *in.CPUPercent)
	}
	if in.ToolCalls != nil {
		r[7] = strconv.FormatInt(*in.ToolCalls, 10)
	}
	if in.Port != 0 {
		r[8] = strconv.Itoa(in.Port)
	}
	return r
}

// clientCell names the client of an instance. Of one that we have started and nobody
// says whom for, as without the background process, there is none to name: why says it.
func clientCell(in *monitor.Instance) string {
	if askedByNobody(in) {
		return ""
	}
	return in.ClientWords(clientMost)
}

func askedByNobody(in *monitor.Instance) bool {
	return in.Managed && !in.IsShared() && (in.Client == nil || monitor.Clean(in.Client.Name) == "")
}

// why says what is to be known about an instance beyond its state: the cause
// and the reason of whatever is not plainly live, who shares it or why nobody
// does, what the policies mean to do, that it is pinned, and that it may not be
// ended. clients says that its clients stand in the line above.
func why(in *monitor.Instance, now time.Time, clients bool) string {
	var words []string
	switch in.State {
	case monitor.StateProject, monitor.StateNoProject:
	case monitor.StateLive:
		if in.Kind == monitor.KindSerena { // of which one expects a dashboard
			words = append(words, daemon.Cause(in))
		}
	case monitor.StateStarting, monitor.StateZombie, monitor.StateParked:
		words = append(words, daemon.Cause(in))
	}
	sharing := in.SharingWords()
	if clients && len(sharing) > 0 && sharing[0] == in.ClientWords(clientMost) { // "no clients"
		sharing = sharing[1:]
	}
	words = append(words, sharing...)
	if askedByNobody(in) {
		words = append(words, "started by Lamplighter")
	}
	words = append(words, planned(in, now))
	if in.Pinned {
		words = append(words, "pinned")
	}
	if !in.Recognised {
		words = append(words, in.StrangerWords())
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), "; ")
}

// idle tells how long nothing was asked of an instance. One that needs
// attention is not asked: what it last said may have been long ago.
func idle(in *monitor.Instance, now time.Time) string {
	if in.State == monitor.StateZombie {
		return "-"
	}
	if in.Busy != nil && *in.Busy {
		return "busy"
	}
	d, ok := in.Idle(now)
	if !ok {
		return "-"
	}
	return monitor.Span(d)
}

// paint puts the state's colour around a word (SGR: green, yellow, red, grey).
func paint(s monitor.State, word string) string {
	code := "90"
	switch s {
	case monitor.StateProject, monitor.StateLive:
		code = "32"
	case monitor.StateNoProject:
		code = "33"
	case monitor.StateZombie:
		code = "31"
	}
	return "\x1b[" + code + "m" + word + "\x1b[0m"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// cut shortens a line to the columns of the terminal; 0 means no limit.
func cut(line string, width int) string {
	if width <= 0 {
		return line
	}
	return text.Snip(line, width, "…")
}
