//go:build real && linux

package main

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/browsertest"
)

// TestConnectedCanBeRead: beside a long total the word for the connection is not cut.
func TestConnectedCanBeRead(t *testing.T) {
	server := httptest.NewServer(api.Handler(api.Parts{Source: newOffice(t), Version: "1.2.3-test", Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p := browsertest.Start(t).Open(t, server.URL+"/global-dashboard/", browsertest.Options{})
	p.Forgive("the server responded with a status of")
	p.AwaitText(t, ".connection", "Connected")
	browsertest.Eval[any](t, p, `void (document.querySelector('.totals').textContent = '128 servers, 101 live, 11 idle, 9 suspended, 7 not answering, 112.3 GB, 1,204 % CPU')`)
	for _, width := range []int{1001, 1050, 1100, 1240, 1241, 1500} {
		p.Look(t, browsertest.Options{Width: width, Height: 800})
		p.Settle(t)
		p.Picture(t, fmt.Sprintf("header at %d", width))
		if cut := browsertest.Eval[int](t, p, "(() => { const word = document.querySelector('.connection .cut'); return word.scrollWidth - word.clientWidth })()"); cut > 0 {
			t.Errorf("at %d px the word for the connection lacks %d px", width, cut)
		}
		if wide := p.WiderThanWindow(t); len(wide) != 0 {
			t.Errorf("at %d px: %q", width, wide)
		}
	}
}
