package api

import "lamplighter/app/setup"

// setupClients is the body of GET /global-dashboard/setup: the clients whose
// settings are known, found or not.
type setupClients struct {
	Clients []setup.Client `json:"clients"`
}

// setupOrder is the body of POST /global-dashboard/setup, whose answer is a
// setup.Result.
type setupOrder struct {
	Client string            `json:"client"` // its ID; "" for all
	Path   string            `json:"path"`   // this file alone, one of those of the client; "" for all
	Undo   bool              `json:"undo"`
	NoPage bool              `json:"no_page"`
	DryRun bool              `json:"dry_run"`
	Expect map[string]string `json:"expect"` // setup.Wanted's
}
