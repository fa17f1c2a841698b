package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"lamplighter/app/payload"
	"lamplighter/app/share/wire"
)

// fetchSite says, in a request of a browser, whose page asks (W3C, Fetch
// Metadata Request Headers).
const fetchSite = "Sec-Fetch-Site"

// refusal is why a request is not let in.
type refusal struct {
	status int
	text   string
}

// guard decides whether a request that came by TCP to our port is let in. Web
// pages of others may send requests here through a browser, which says where
// they come from; a Host of another name is a page whose own address was
// pointed at us. It reads nothing but the request's header, and nil means yes.
func guard(req *http.Request, port int) *refusal {
	if !ourHost(req.Host, port) {
		return &refusal{http.StatusForbidden, fmt.Sprintf("the request is meant for another host; ask 127.0.0.1:%d", port)}
	}
	if origins := req.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && origins[0] != "http://"+req.Host {
		return &refusal{http.StatusForbidden, "a page from elsewhere asks"}
	}
	if !ourSite(req.Header.Values(fetchSite)) && !opensThePage(req) {
		return &refusal{http.StatusForbidden, "a page from elsewhere asks"}
	}
	longest, tooLarge := int64(payload.Max), payload.ErrTooLarge.Error()
	if req.URL.Path == mcpPath {
		longest, tooLarge = wire.MaxLine, fmt.Sprintf("the message is longer than the limit of %d MiB", wire.MaxLine>>20)
	}
	switch {
	case req.ContentLength > longest:
		return &refusal{http.StatusRequestEntityTooLarge, tooLarge}
	case req.ContentLength != 0 && !payload.IsJSON(req):
		return &refusal{http.StatusBadRequest, payload.ErrNotJSON.Error()}
	}
	return nil
}

// ourHost reports whether a Host is this machine's loopback and our port.
func ourHost(host string, port int) bool {
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		if host == name+":"+strconv.Itoa(port) {
			return true
		}
	}
	return false
}

// ourSite reports whether a request comes from our own page, from the user
// himself, or not from a browser.
func ourSite(values []string) bool {
	return len(values) == 0 || len(values) == 1 && (values[0] == "same-origin" || values[0] == "none")
}

// opensThePage tells a plain navigation: a link somewhere that opens our page,
// as a page of its own. That gives the other one nothing.
func opensThePage(req *http.Request) bool {
	return req.Method == http.MethodGet && slices.Contains(pagePaths, req.URL.Path) && req.URL.RawPath == "" && req.ContentLength == 0 &&
		slices.Equal(req.Header.Values("Sec-Fetch-Mode"), []string{"navigate"}) &&
		slices.Equal(req.Header.Values("Sec-Fetch-Dest"), []string{"document"})
}

// pagePaths are those of the page itself, and what leads to it.
var pagePaths = []string{"/", "/global-dashboard", pageRoot, pageRoot + "index.html"}

// secure sets the headers that every answer over TCP has. The page sets a
// policy of its own.
func secure(header http.Header) {
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
}
