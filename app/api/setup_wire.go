package api

import (
	"slices"

	"lamplighter/app/setup"
)

// SetupClients is the body of GET /global-dashboard/setup: the clients whose
// settings are known, found or not. A list is never null.
type SetupClients struct {
	Clients []setup.Client `json:"clients"`
}

// SetupOrder is the body of POST /global-dashboard/setup, whose answer is a
// setup.Result.
type SetupOrder struct {
	Client   string `json:"client"` // its ID; "" for all
	Path     string `json:"path"`   // this file alone, one of those of the client; "" for all
	Undo     bool   `json:"undo"`
	NoPage   bool   `json:"no_page"`
	OrDirect bool   `json:"or_direct"`
	Project  bool   `json:"project"`
	DryRun   bool   `json:"dry_run"`
}

func encodeClients(list []setup.Client) SetupClients {
	clients := listed(slices.Clone(list))
	for i := range clients {
		c := &clients[i]
		c.Running, c.Files = listed(c.Running), listed(slices.Clone(c.Files))
		for j := range c.Files {
			c.Files[j].Entries = encodeEntries(c.Files[j].Entries)
		}
	}
	return SetupClients{clients}
}

func encodeSetupResult(r setup.Result) setup.Result {
	r.Changes, r.Running = listed(slices.Clone(r.Changes)), listed(r.Running)
	for i := range r.Changes {
		c := &r.Changes[i]
		c.Entries, c.Left = encodeEntries(c.Entries), encodeEntries(c.Left)
	}
	return r
}

func encodeEntries(list []setup.Entry) []setup.Entry {
	entries := listed(slices.Clone(list))
	for i := range entries {
		entries[i].Path = listed(entries[i].Path)
	}
	return entries
}

// listed is a list that is not null on the wire.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
