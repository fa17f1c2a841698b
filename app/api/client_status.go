package api

import (
	"context"
	"net/http"
)

// Status returns what the background process says of itself. Its Address may
// hold the token of the page, so it is for no log.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var status Status
	err := c.ask(ctx, http.MethodGet, pageRoot+"status", &status)
	return status, err
}
