package monitor

import "testing"

func TestOrigin(t *testing.T) {
	who := &Client{Name: "cu\nrl"}
	for _, c := range []struct {
		in     Instance
		origin string
	}{
		{Instance{}, ""},
		{Instance{Client: &Client{}}, ""},
		{Instance{Client: who}, "by cu rl"},
		{Instance{Client: who, Managed: true}, "asked for by cu rl"},
		{Instance{Client: &Client{Name: "\x1b"}, Managed: true}, ""},
		{Instance{Managed: true}, ""},
		{Instance{Client: &Client{Name: "an assistant"}, Managed: true}, "asked for by an assistant"},
	} {
		if got := c.in.Origin(); got != c.origin {
			t.Errorf("origin %q, want %q", got, c.origin)
		}
	}
}
