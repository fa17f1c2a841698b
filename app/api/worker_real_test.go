//go:build real && linux

package api

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"lamplighter/app/browsertest"
)

// Somebody had our port before and left a service worker in the browser. It
// answers the first navigation to us; the browser then asks us for its script,
// removes it, and shows our page.
func TestPlantedServiceWorker(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	planter := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/sw.js" {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `self.addEventListener('install', () => skipWaiting())
self.addEventListener('activate', e => e.waitUntil(clients.claim()))
self.addEventListener('fetch', e => { if (e.request.mode === 'navigate') e.respondWith(new Response('<p id="who">planted</p>', { headers: { 'Content-Type': 'text/html' } })) })`)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><p id="who">not yet</p><script>
navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => { who.textContent = 'ready' })</script>`)
	})}}
	planter.Start()
	page := browsertest.Start(t).Open(t, fmt.Sprintf("http://127.0.0.1:%d/", port), browsertest.Options{})
	page.AwaitText(t, "#who", "ready")
	planter.Close()

	ours := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><p id="who">ours</p>`)
	})
	s := serveWeb(t, ours, func(w *Web) { w.Set(true, port) })
	if s.port(t) != port {
		t.Fatalf("serves at %s", s.URL())
	}
	page.Go(t, s.URL())
	page.AwaitText(t, "#who", "ours")
	page.Go(t, s.URL()) // and for good
	page.AwaitText(t, "#who", "ours")
}
