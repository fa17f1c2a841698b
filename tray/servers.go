package tray

import (
	"fmt"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// serverLines are the lines about servers in the menu and under Stop,
// each with one about those that found no room. Beyond a dozen the menu has them below
// their clients, with totals, and does not name those again in each line.
func serverLines(all []*view.Server, orders orders, now time.Time, figure func(id string, bytes uint64) int) (list, stops []line) {
	servers, children := view.Divide(all)
	groups := []view.Group{{Servers: servers}}
	if len(servers) > ungrouped {
		groups = view.Grouped(servers, view.ByClient)
	}
	grouped := len(groups) > 1
	memory := func(s *view.Server) string { return memoryWords(figure(string(s.ID), view.Value(s.RSSBytes))) }
	shown := withRoom(servers, grouped, listLines)
	if all := withRoom(servers, grouped, listLines+1); len(all) == len(servers) {
		shown = all // the last one has the room of the line that tells of others
	}
	for _, g := range groups {
		if grouped && shown[g.Servers[0]] {
			key := "client " + g.Name
			list = append(list, line{Key: key, Title: g.Words(memoryWords(figure(key, g.RSSBytes()))), Action: openPage})
		}
		for _, s := range g.Servers {
			if shown[s] {
				list = append(list, entry(s, orders, grouped, memory(s), now))
			}
		}
	}
	room := max(listLines-len(list), 0)
	stopOver := 0
	for _, s := range servers {
		switch {
		case !s.CanStop():
		case len(stops) == listLines:
			stopOver++
		default:
			stops = append(stops, stopEntry(s, orders, memory(s), now))
		}
	}
	if over := len(servers) - len(shown); over > 0 {
		list = append(list, line{Key: "more", Title: fmt.Sprintf("and %d more: lamplighter status", over), Action: openPage})
	}
	for _, c := range children[:min(len(children), room)] {
		list = append(list, line{Key: fmt.Sprintf("children %d", c.Client.PID), Title: monitor.Shorten(c.Words, labelColumns), Action: openPage})
	}
	if stopOver > 0 {
		stops = append(stops, line{Key: "more to stop", Title: fmt.Sprintf("and %d more: lamplighter stop", stopOver), Disabled: true})
	}
	return list, stops
}

// withRoom are the servers that find room in so many lines, the first of the snapshot, each
// client above its own.
func withRoom(servers []*view.Server, grouped bool, lines int) map[*view.Server]bool {
	shown, clients := make(map[*view.Server]bool), make(map[string]bool)
	for _, s := range servers {
		if grouped {
			clients[view.ByClient(s)] = true
		}
		if len(shown)+1+len(clients) > lines {
			break
		}
		shown[s] = true
	}
	return shown
}

// serverLine is a line about a server with what a click on it does: its title,
// shortened to so many columns, what tells it from others, and words behind it.
func serverLine(s *view.Server, verb view.Verb, columns int, words ...string) line {
	words = append([]string{s.Words.Apart}, words...)
	return line{
		Key: string(verb) + " " + string(s.ID), Action: about(s.Ref(), verb),
		Title: title(columns, s.Words.Title, s.Name(), words...),
		Ended: title(labelColumns, s.Words.Title, s.Name(), "ended"),
	}
}

// endingWords are said instead of all others.
const endingWords = "ending…"

// planTold is how long before a planned end it is told. One that is far off moves
// with every call of the server, and the menu would never be calm.
const planTold = 15 * time.Minute

// planned reports whether a policy is about to end a server. None ends one that
// cannot be stopped.
func planned(s *view.Server, now time.Time) bool {
	return s.ShutdownAt != nil && s.CanStop() && s.ShutdownAt.Sub(now) < planTold
}

// presentWords is how a server is: its state and what it does, or what is about to
// become of it, which matters more.
func presentWords(s *view.Server, orders orders, now time.Time) (words []string) {
	if orders.ending[s.ID] {
		return []string{endingWords}
	}
	ends := planned(s, now)
	for _, p := range s.Words.Short {
		switch {
		case p.Since == nil:
			words = append(words, p.Draw(now))
		case !ends:
			words = append(words, idleWords(p.Text, now.Sub(*p.Since)))
		}
	}
	if ends {
		words = append(words, s.Words.Next.Draw(now))
	}
	return words
}

// entry puts one server in words, for example "4711 - alpha · Claude Code · idle 10
// min · 150 MB". One that ends has no more than that, so that its name keeps its room.
// Below a heading its client is not named again.
func entry(s *view.Server, orders orders, headed bool, memory string, now time.Time) line {
	words := presentWords(s, orders, now)
	if !headed && (s.SharedBy != nil || s.Loser(1, 1) != "") { // not one that has left it
		words = append([]string{s.Listed(clientColumns)}, words...)
	}
	if !planned(s, now) || orders.ending[s.ID] {
		words = append(words, s.Reach(), memory)
	}
	l := serverLine(s, view.Open, labelColumns, words...)
	l.Mark = icons.Mark(s.State)
	return l
}

// stopEntry is the line of a server under Stop, where it also says who would lose
// it. It has no icon: panels read the whole menu again after each change, and
// twice the icons would double what that costs.
func stopEntry(s *view.Server, orders orders, memory string, now time.Time) line {
	pinned := ""
	if s.Pinned {
		pinned = "pinned"
	}
	words := append(presentWords(s, orders, now), pinned, s.Loser(clientColumns, clientsColumns), memory)
	return serverLine(s, view.Stop, stopColumns, words...)
}

// restartEntries are the lines of servers that are started again under their clients,
// as many as have room. The page asks about others.
func restartEntries(servers []*view.Server, orders orders) (lines []line) {
	for _, s := range servers {
		if view.Value(s.Restart) == view.ClientsKept && !orders.ending[s.ID] && len(lines) < restartLines {
			lines = append(lines, serverLine(s, view.Restart, stopColumns, s.Loser(clientColumns, clientsColumns)))
		}
	}
	return lines
}
