package view

import (
	"cmp"
	"fmt"
	"strings"

	"lamplighter/monitor"
)

// Children are the processes that one client talks to over pipes, and of which nothing
// else is known. They are shown together, in one line.
type Children struct {
	Client Client  `json:"client"`
	List   []Child `json:"list"`
	Words  string  `json:"words"` // "Claude Code has 2 more children on pipes"; may change in any release
	Names  string  `json:"names"` // what they run, with their pids: "cat (4711), server.py (4712)"; likewise
}

// Child is one of them.
type Child struct {
	ID   ID     `json:"id"`
	PID  int    `json:"pid"`
	Name string `json:"name"` // what it runs: "server.py"
}

// childName is how much is shown of what a child runs, in columns.
const childName = 40

// Divide takes the children on pipes out of a list of servers, by client, and leaves
// out what is given up. Never nil.
func Divide(all []*Server) (servers []*Server, children []Children) {
	var onPipes []*Server
	for _, s := range all {
		switch {
		case s.OnPipes:
			onPipes = append(onPipes, s)
		case s.GivenUpSince == nil:
			servers = append(servers, s)
		}
	}
	children = []Children{}
	client := func(s *Server) Client { return *cmp.Or(s.Client, &Client{Name: "A client"}) }
	for _, g := range Grouped(onPipes, func(s *Server) string { return fmt.Sprint(client(s)) }) {
		c := Children{Client: client(g.Servers[0])}
		var names []string
		for _, s := range g.Servers {
			child := Child{s.ID, Value(s.PID), monitor.Shorten(s.Name(), childName)}
			c.List = append(c.List, child)
			names = append(names, fmt.Sprintf("%s (%d)", child.Name, child.PID))
		}
		c.Words = fmt.Sprintf("%s has %s on pipes", programName(c.Client.Name), monitor.Plural(len(c.List), "more child", "more children"))
		c.Names = strings.Join(names, ", ")
		children = append(children, c)
	}
	return servers, children
}
