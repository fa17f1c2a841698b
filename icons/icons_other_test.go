//go:build !windows

package icons

import (
	"bytes"
	"image/png"
	"testing"
)

func TestSizes(t *testing.T) {
	check := func(name string, b []byte, want int) {
		t.Helper()
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := img.Bounds(); d.Dx() != want || d.Dy() != want {
			t.Errorf("%s is %v, want %d px", name, d, want)
		}
	}
	for _, m := range Marks() {
		check("item", Item(m), 32)
		if m == Ended {
			continue // which is never the worst state
		}
		for _, style := range styles {
			check("tray", Tray(style, m), 32)
		}
		check("template", TrayTemplate(m), 32)
	}
	check("template", TrayTemplate(""), 32)
}
