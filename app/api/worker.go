package api

import (
	"io"
	"net/http"
	"slices"
)

// removal is a service worker that removes itself, and then opens the pages
// anew that the one before it has made.
const removal = `self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  await self.registration.unregister();
  for (const page of await self.clients.matchAll({ type: "window" })) await page.navigate(page.url);
})()));
`

// asksForWorker tells a browser that asks for the script of a service worker,
// as it does at each navigation to a page that one controls. The header cannot
// be set by a script (W3C, Service Workers, "Service-Worker").
func asksForWorker(req *http.Request) bool {
	return (req.Method == http.MethodGet || req.Method == http.MethodHead) && slices.Equal(req.Header.Values("Service-Worker"), []string{"script"})
}

// removeWorker answers with a service worker that removes itself. We have none:
// one that a browser still has was planted by somebody who had the port before,
// and answers in our place for every page of ours.
func (w *Web) removeWorker(rw http.ResponseWriter) {
	header := rw.Header()
	header.Set("Content-Type", "text/javascript")
	header.Set("Cache-Control", "no-store")
	if _, err := io.WriteString(rw, removal); err != nil {
		w.options.Log.Debug("an answer was not taken", "error", err)
	}
}
