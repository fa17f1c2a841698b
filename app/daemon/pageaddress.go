package daemon

import (
	"strings"

	"lamplighter/monitor/view"
)

// An address of the page may carry a token at the end of its fragment, as
// "#token=…" or "#/24284/logs&token=…": see api.Web.OpenURL.

// FragmentOf is the part of the page that shows a server.
func FragmentOf(id view.ID) string { return "/" + string(id) }

// WithFragment is the address of a part of the page, from that of the whole.
func WithFragment(page, fragment string) string {
	bare, token, found := strings.Cut(page, "#")
	if found {
		fragment += "&" + token
	}
	return bare + "#" + fragment
}

// WithoutToken is an address as it may be shown and logged.
func WithoutToken(address string) string {
	bare, fragment, _ := strings.Cut(address, "#")
	fragment, _, _ = strings.Cut("&"+fragment, "&token=")
	if fragment = strings.TrimPrefix(fragment, "&"); fragment == "" {
		return bare
	}
	return bare + "#" + fragment
}
