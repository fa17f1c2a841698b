package cli

import (
	"strings"

	"lamplighter/monitor"
)

// An address of the page may carry a token at the end of its fragment, as
// "#token=…" or "#/24284/logs&token=…": see api.Web.OpenURL.

// fragmentOf is the part of the page that shows an instance.
func fragmentOf(in *monitor.Instance) string { return "/" + in.ID() }

// withFragment is the address of a part of the page, from that of the whole.
func withFragment(page, fragment string) string {
	bare, token, found := strings.Cut(page, "#")
	if found {
		fragment += "&" + token
	}
	return bare + "#" + fragment
}

// withoutToken is an address as it may be shown and logged.
func withoutToken(address string) string {
	bare, fragment, _ := strings.Cut(address, "#")
	fragment, _, _ = strings.Cut("&"+fragment, "&token=")
	if fragment = strings.TrimPrefix(fragment, "&"); fragment == "" {
		return bare
	}
	return bare + "#" + fragment
}
