package api

import (
	"context"
	"net/http"
	"net/url"

	"lamplighter/monitor/policy"
)

// Decisions returns what an order of the user means or, with "", what the
// policies do now.
func (c *Client) Decisions(ctx context.Context, w policy.Rule) ([]Decision, error) {
	var list Decisions
	err := c.ask(ctx, http.MethodGet, decisionsPath+"?what="+url.QueryEscape(string(w)), &list)
	return list.Decisions, err
}

// Pin pins the instance with that id or pid, or takes that back.
func (c *Client) Pin(ctx context.Context, id string, pinned bool) error {
	var pin Pin
	route := pageRoot + "instance/" + url.PathEscape(id) + "/pin"
	return c.order(ctx, http.MethodPut, route, Pin{Pinned: pinned}, &pin, http.StatusOK, answerTime)
}
