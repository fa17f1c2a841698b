package mcp

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"lamplighter/app/mcptest"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// BenchmarkPing is a round trip of ours, and the same one with net/http alone.
func BenchmarkPing(b *testing.B) {
	s := mcptest.New(b)
	session := dial(b, s, nil)
	b.Run("session", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := session.Send(b.Context(), []byte(ping), func([]byte) {}); err != nil {
				b.Fatal(err)
			}
		}
	})
	client := &http.Client{Transport: transport(b)}
	b.Run("client", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.URL(), bytes.NewReader([]byte(ping)))
			if err != nil {
				b.Fatal(err)
			}
			r.Header = session.request(b.Context(), http.MethodPost).Header
			answer, err := client.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadAll(answer.Body); err != nil {
				b.Fatal(err)
			}
			_ = answer.Body.Close() // is at its end
		}
	})
}
