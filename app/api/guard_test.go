package api

import (
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/app/payload"
)

// ask is a request as a guard sees it; headers are name, value, …
func ask(t testing.TB, method, target string, body string, headers ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, "http://127.0.0.1:25282"+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Scheme, req.URL.Host = "", "" // as a server has it
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	return req
}

func TestGuard(t *testing.T) {
	const (
		page  = "/global-dashboard/"
		list  = "/global-dashboard/instances"
		order = "/global-dashboard/instance/7/kill"
		kind  = "Content-Type"
		json  = "application/json"
		mode  = "Sec-Fetch-Mode"
		dest  = "Sec-Fetch-Dest"
		site  = "Sec-Fetch-Site"
	)
	navigation := func(from string, more ...string) []string {
		return append([]string{site, from, mode, "navigate", dest, "document"}, more...)
	}
	for name, test := range map[string]struct {
		method, target, body string
		headers              []string
		want                 int // 0: let in
	}{
		"our page":                     {"GET", list, "", []string{site, "same-origin", mode, "cors", dest, "empty"}, 0},
		"our page orders":              {"POST", order, "{}", []string{site, "same-origin", "Origin", "http://127.0.0.1:25282", kind, json}, 0},
		"our page, by another name":    {"POST", order, "", []string{"Host", "localhost:25282", "Origin", "http://localhost:25282"}, 0},
		"the user types it":            {"GET", page, "", navigation("none"), 0},
		"a program orders":             {"POST", order, "", nil, 0},
		"with parameters of the kind":  {"POST", order, "{}", []string{kind, json + "; charset=utf-8"}, 0},
		"a link on the same host":      {"GET", "/", "", navigation("same-site"), 0},
		"a link to the file":           {"GET", "/global-dashboard/index.html", "", navigation("cross-site", "Sec-Fetch-User", "?1"), 0},
		"a link without the slash":     {"GET", "/global-dashboard", "", navigation("cross-site"), 0},
		"ends like ours":               {"GET", list, "", []string{"Host", "evil.127.0.0.1:25282"}, 403},
		"begins like ours":             {"GET", list, "", []string{"Host", "127.0.0.1.evil.example:25282"}, 403},
		"another port":                 {"GET", list, "", []string{"Host", "127.0.0.1:25283"}, 403},
		"no host":                      {"GET", list, "", []string{"Host", ""}, 403},
		"a final dot":                  {"GET", list, "", []string{"Host", "localhost.:25282"}, 403},
		"another loopback address":     {"GET", list, "", []string{"Host", "127.0.0.2:25282"}, 403},
		"all addresses":                {"GET", list, "", []string{"Host", "0.0.0.0:25282"}, 403},
		"a port with a zero":           {"GET", list, "", []string{"Host", "127.0.0.1:025282"}, 403},
		"a user in the host":           {"GET", list, "", []string{"Host", "127.0.0.1:25282@evil.example"}, 403},
		"an empty origin":              {"POST", order, "", []string{"Origin", ""}, 403},
		"two origins":                  {"POST", order, "", []string{"Origin", "http://127.0.0.1:25282", "Origin", "http://127.0.0.1:25282"}, 403},
		"over TLS":                     {"POST", order, "", []string{"Origin", "https://127.0.0.1:25282"}, 403},
		"another of our names":         {"POST", order, "", []string{"Origin", "http://localhost:25282"}, 403},
		"an image elsewhere":           {"GET", list, "", []string{site, "cross-site", mode, "no-cors", dest, "image"}, 403},
		"the same host, another port":  {"GET", list, "", []string{site, "same-site", mode, "no-cors"}, 403},
		"a site of no meaning":         {"GET", list, "", []string{site, "same-Origin"}, 403},
		"two sites":                    {"GET", list, "", []string{site, "same-origin", site, "cross-site"}, 403},
		"a frame":                      {"GET", page, "", []string{site, "cross-site", mode, "navigate", dest, "iframe"}, 403},
		"a frame and a document":       {"GET", page, "", navigation("cross-site", dest, "iframe"), 403},
		"a link to an asset":           {"GET", "/global-dashboard/assets/app.js", "", navigation("cross-site"), 403},
		"a link to the measures":       {"GET", "/metrics", "", navigation("cross-site"), 403},
		"a form":                       {"POST", page, "", navigation("cross-site"), 403},
		"a form, with a body":          {"POST", order, "force=true", navigation("cross-site", kind, "application/x-www-form-urlencoded"), 403},
		"a fetch of the page":          {"GET", page, "", []string{site, "cross-site", mode, "cors", dest, "empty"}, 403},
		"a link by a trick":            {"GET", "/global%2ddashboard/", "", navigation("cross-site"), 403},
		"no kind":                      {"POST", order, "{}", nil, 400},
		"a form's kind":                {"POST", order, "a=b", []string{kind, "application/x-www-form-urlencoded"}, 400},
		"two kinds":                    {"POST", order, "{}", []string{kind, json, kind, "text/plain"}, 400},
		"two kinds in one":             {"POST", order, "{}", []string{kind, json + ", text/plain"}, 400},
		"like JSON":                    {"POST", order, "{}", []string{kind, "application/jsonp"}, 400},
		"a body that is not needed":    {"GET", list, "x", nil, 400},
		"too long":                     {"POST", order, strings.Repeat(" ", payload.Max+1), []string{kind, json}, 413},
		"just not too long":            {"POST", order, strings.Repeat(" ", payload.Max), []string{kind, json}, 0},
		"a foreign one, and too long":  {"POST", order, strings.Repeat(" ", payload.Max+1), []string{"Origin", "null"}, 403},
		"no body, a kind of something": {"POST", order, "", []string{kind, "text/plain"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := guard(ask(t, test.method, test.target, test.body, test.headers...), 25282)
			switch {
			case got == nil && test.want != 0:
				t.Errorf("let in; want %d", test.want)
			case got != nil && (got.status != test.want || got.text == ""):
				t.Errorf("%d %q; want %d", got.status, got.text, test.want)
			}
		})
	}
	chunked := ask(t, "POST", order, "{}")
	chunked.ContentLength = -1
	if got := guard(chunked, 25282); got == nil || got.status != 400 {
		t.Errorf("a body of unknown length without a kind: %+v", got)
	}
}

// Whoever is let in is from here, or only opens the page.
func TestGuardByChance(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"", "127.0.0.1:25282", "localhost:25282", "[::1]:25282", "127.0.0.1", "evil:25282", "http://127.0.0.1:25282", "http://localhost:25282", "http://evil", "null",
		"same-origin", "same-site", "cross-site", "none", "navigate", "cors", "document", "iframe", "application/json", "text/plain",
	})
	values := rapid.SliceOfN(words, 0, 2)
	rapid.Check(t, func(rt *rapid.T) {
		req := ask(t, rapid.SampledFrom([]string{"GET", "HEAD", "POST", "PUT", "OPTIONS"}).Draw(rt, "method"),
			rapid.SampledFrom([]string{"/", "/global-dashboard/", "/global-dashboard/instances", "/global-dashboard/instance/7/kill"}).Draw(rt, "target"), "")
		req.Host = words.Draw(rt, "host")
		for _, name := range []string{"Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Content-Type"} {
			for _, v := range values.Draw(rt, name) {
				req.Header.Add(name, v)
			}
		}
		if guard(req, 25282) != nil {
			return
		}
		if !strings.HasSuffix(req.Host, ":25282") || strings.HasPrefix(req.Host, "evil") {
			rt.Errorf("Host %q was let in", req.Host)
		}
		for _, origin := range req.Header["Origin"] {
			if origin != "http://"+req.Host {
				rt.Errorf("Origin %q was let in by Host %q", origin, req.Host)
			}
		}
		for _, site := range req.Header["Sec-Fetch-Site"] {
			if site != "same-origin" && site != "none" && (req.Method != "GET" || !strings.HasSuffix(req.URL.Path, "/") || req.Header.Get("Sec-Fetch-Dest") != "document") {
				rt.Errorf("%s %s by a page that is %q was let in", req.Method, req.URL, site)
			}
		}
	})
}
