package view

import (
	"cmp"
	"fmt"
	"slices"
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
	children = []Children{}
	for _, s := range all {
		if !s.OnPipes {
			if s.GivenUpSince == nil {
				servers = append(servers, s)
			}
			continue
		}
		of := *cmp.Or(s.Client, &Client{Name: "A client"})
		i := slices.IndexFunc(children, func(c Children) bool { return c.Client == of })
		if i < 0 {
			children = append(children, Children{Client: of})
			i = len(children) - 1
		}
		children[i].List = append(children[i].List, Child{s.ID, Value(s.PID), monitor.Shorten(s.Name(), childName)})
	}
	for i := range children {
		c := &children[i]
		c.Words = fmt.Sprintf("%s has %s on pipes", programName(c.Client.Name), monitor.Plural(len(c.List), "more child", "more children"))
		var names []string
		for _, child := range c.List {
			names = append(names, fmt.Sprintf("%s (%d)", child.Name, child.PID))
		}
		c.Names = strings.Join(names, ", ")
	}
	return servers, children
}
