package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	prettytable "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// narrowest is the width in columns below which nothing is cut any more: the
// terminal wraps instead.
const narrowest = 20

const nothingRuns = "No servers yet. Start your assistant and they appear here.\n"

// table draws what was sent for people: state word first, one line per server in the
// order of the list, and below what is not plainly live the reason, and who
// shares what is shared. With by, "client" or "project", they are grouped, each group
// below its totals. The last line says what sharing saves.
func table(sent api.Instances, now time.Time, by string, sc screen) string {
	if sc.width < narrowest {
		sc.width = 0
	}
	servers, children := view.Divide(sent.Instances)
	var groups []view.Group
	if group := groupings[by]; group != nil {
		slices.SortStableFunc(servers, func(a, b *view.Server) int { return cmp.Compare(strings.ToLower(group(a)), strings.ToLower(group(b))) })
		groups = view.Grouped(servers, group)
	}
	below := ""
	for _, c := range children {
		below += cut(c.Words+": "+c.Names, sc.width) + "\n"
	}
	for _, r := range sent.Repeated {
		words := r.Words
		if r.Keep != nil {
			words += ": lamplighter stop --others " + pidOf(*r.Keep)
		}
		below += cut(words, sc.width) + "\n"
	}
	if g := sent.GivenUp; g != nil {
		words := g.Words + ": lamplighter stop"
		for _, id := range g.IDs {
			words += " " + pidOf(id)
		}
		below += cut(words, sc.width) + "\n"
	}
	if len(servers) == 0 {
		return nothingRuns + below
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
	rows, saved := make([]prettytable.Row, len(servers)), uint64(0)
	for i := range servers {
		rows[i] = row(servers[i], now, sc.colour)
		saved += view.Value(servers[i].SavedBytes)
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
	for i := range servers {
		rows[i][serverColumn] = shortLabel(servers[i], room)
	}
	t.AppendRows(rows)
	var b strings.Builder
	for i, line := range strings.Split(t.Render(), "\n") {
		if len(groups) > 0 && i > 0 && groups[0].Servers[0] == servers[i-1] { // they come in this order
			b.WriteString(cut(groups[0].Words(monitor.Memory(groups[0].RSSBytes())), sc.width) + "\n")
			groups = groups[1:]
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if i == 0 || i > len(servers) {
			continue
		}
		if why := why(servers[i-1], now, clients); why != "" {
			b.WriteString(cut("  "+why, sc.width) + "\n")
		}
	}
	b.WriteString(below)
	if saved > 0 {
		b.WriteString(cut("Sharing saves "+monitor.Memory(saved)+".", sc.width) + "\n")
	}
	return b.String()
}

// groupings are by what a listing can be grouped.
var groupings = map[string]func(*view.Server) string{"client": view.ByClient, "project": view.ByProject}

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
func shortLabel(s *view.Server, room int) string {
	head := strings.TrimSuffix(s.Words.Title, s.Name())
	return head + monitor.Shorten(s.Name(), max(room-monitor.Columns(head), 1))
}

// clientMost is the limit of a client's name, which may be any program's.
const clientMost = 20

func row(s *view.Server, now time.Time, colour bool) prettytable.Row {
	state := view.StateWords(s.State)
	if colour {
		state = paint(s.State, state)
	}
	context := monitor.Shorten(monitor.Clean(view.Value(s.Context)), clientMost)
	r := prettytable.Row{state, s.Words.Title, cmp.Or(s.Listed(clientMost), "-"), cmp.Or(context, "-"), "-", "-", idle(s, now), "-", "-"}
	if s.RSSBytes != nil {
		r[4] = monitor.Memory(*s.RSSBytes)
	}
	if s.CPUPercent != nil {
		r[5] = fmt.Sprintf("%.0f %%", *s.CPUPercent)
	}
	if s.ToolCalls != nil {
		r[7] = strconv.FormatInt(*s.ToolCalls, 10)
	}
	if s.Port != nil {
		r[8] = strconv.Itoa(*s.Port)
	}
	return r
}

// why says what is to be known about a server beyond its state. clients says that
// its clients stand in the line above.
func why(s *view.Server, now time.Time, clients bool) string {
	words := slices.Clone(s.Words.Why)
	if s.Words.Apart != "" {
		words = slices.Insert(words, 0, s.Words.Apart)
	}
	if clients && len(s.Clients) == 0 {
		words = slices.DeleteFunc(words, func(clause string) bool { return clause == s.Sharers() })
	}
	if next := s.NextAt(now); next != nil {
		words = append(words, strings.TrimSuffix(next.Draw(now)+": "+next.Why, ": "))
	}
	return strings.Join(words, "; ")
}

// idle tells how long nothing was asked of a server. One that needs attention is
// not asked: what it last said may have been long ago.
func idle(s *view.Server, now time.Time) string {
	d, known := s.IdleFor(now)
	switch {
	case s.State == monitor.StateZombie || !known:
		return "-"
	case view.Value(s.Busy):
		return "busy"
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

// cut shortens a line to the columns of the terminal; 0 means no limit.
func cut(line string, width int) string {
	if width <= 0 {
		return line
	}
	return text.Snip(line, width, "…")
}
