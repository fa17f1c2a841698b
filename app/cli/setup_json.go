package cli

import (
	"slices"

	"lamplighter/app/setup"
)

// clientsJSON is what --list --json prints.
type clientsJSON struct {
	Clients []setup.Client `json:"clients"`
}

// listJSON is a list for programs: what has no members is [] and not null, which
// would mean that it is not known.
func listJSON(clients []setup.Client) clientsJSON {
	clients = some(slices.Clone(clients))
	for i := range clients {
		c := &clients[i]
		c.Running, c.Files = some(c.Running), some(slices.Clone(c.Files))
		for k := range c.Files {
			c.Files[k].Entries = entriesJSON(c.Files[k].Entries)
		}
	}
	return clientsJSON{clients}
}

// resultJSON is likewise what came of it, or would.
func resultJSON(r setup.Result) setup.Result {
	r.Changes, r.Running = some(slices.Clone(r.Changes)), some(r.Running)
	for i := range r.Changes {
		c := &r.Changes[i]
		c.Entries, c.Left = entriesJSON(c.Entries), entriesJSON(c.Left)
	}
	return r
}

func entriesJSON(list []setup.Entry) []setup.Entry {
	list = some(slices.Clone(list))
	for i := range list {
		list[i].Path = some(list[i].Path)
	}
	return list
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
