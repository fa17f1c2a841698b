package api

import (
	"context"
	"net/http"
	"net/url"

	"lamplighter/monitor/policy"
)

// Decisions returns what an order of the user means or, with "", what the
// policies do now.
func (c *Client) Decisions(ctx context.Context, w policy.What) ([]Decision, error) {
	var list Decisions
	err := c.ask(ctx, http.MethodGet, decisionsPath+"?what="+url.QueryEscape(string(w)), &list)
	return list.Decisions, err
}

// RestartLanguageServer has the language servers of the instance with that id or pid
// started again.
func (c *Client) RestartLanguageServer(ctx context.Context, id string) (done LanguageServerRestarted, err error) {
	route := pageRoot + "instance/" + url.PathEscape(id) + "/restart-language-server"
	err = c.order(ctx, http.MethodPost, route, struct{}{}, &done, http.StatusOK, killTime())
	return done, err
}

// Pin pins the instance with that id or pid, or takes that back.
func (c *Client) Pin(ctx context.Context, id string, pinned bool) error {
	var pin Pin
	route := pageRoot + "instance/" + url.PathEscape(id) + "/pin"
	return c.order(ctx, http.MethodPut, route, Pin{Pinned: pinned}, &pin, http.StatusOK, answerTime)
}
