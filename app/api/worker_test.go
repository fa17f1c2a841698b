package api

import (
	"strings"
	"testing"
)

// A browser that has a service worker of somebody who had our port before gets
// one that removes itself, whatever its name was.
func TestServiceWorkerIsRemoved(t *testing.T) {
	s := serveWeb(t, Handler(parts(newModel(), shower{})), nil)
	for _, path := range []string{"/sw.js", "/global-dashboard/", "/a/../b%2f"} {
		resp, body := s.send(t, get(path, "Service-Worker: script", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: serviceworker"))
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/javascript" || resp.Header.Get("Cache-Control") != "no-store" ||
			!strings.Contains(body, "unregister()") {
			t.Errorf("%s: %d %v %s", path, resp.StatusCode, resp.Header, body)
		}
		secured(t, path, resp.Header)
	}
	for request, status := range map[string]int{
		get("/sw.js", "Service-Worker: script", "Origin: https://evil.example"):                      403,
		"GET /sw.js HTTP/1.1\r\nHost: evil.example\r\nService-Worker: script\r\n\r\n":                403,
		"POST /sw.js HTTP/1.1\r\nHost: $HOST\r\nService-Worker: script\r\nContent-Length: 0\r\n\r\n": 404,
		get("/sw.js"):                          404,
		get("/sw.js", "Service-Worker: other"): 404,
		get("/sw.js", "Service-Worker: script", "Service-Worker: script"): 404,
	} {
		if resp, body := s.send(t, request); resp.StatusCode != status || strings.Contains(body, "unregister") {
			t.Errorf("%q: %d %s", request, resp.StatusCode, body)
		}
	}
}
