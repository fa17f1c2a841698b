package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each picture that is committed has a source, and the other way round.
func TestSources(t *testing.T) {
	byName := map[string]source{}
	for _, s := range sources() {
		byName[s.name] = s
	}
	paths, err := filepath.Glob(filepath.Join("..", "art", "*.png"))
	if err != nil || len(paths) != len(byName)-1 {
		t.Errorf("%d pictures of %d sources, %v: run go generate ./icons", len(paths), len(byName)-1, err)
	}
	for _, path := range paths {
		s, known := byName[strings.TrimSuffix(filepath.Base(path), ".png")]
		if !known {
			t.Errorf("%s has no source", path)
		}
		for _, colour := range []string{amber, bronze, light} {
			if strings.Contains(s.svg, colour) && !strings.HasPrefix(s.name, "tray-auto-") {
				t.Errorf("%s has %s of the style auto", s.name, colour)
			}
		}
	}
	if _, err := os.Stat(filepath.Join("..", "app", "lamplighter-256.png")); err != nil {
		t.Error(err)
	}
}

func TestPanelPicturesSurviveTheLibrary(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(random.Uint32())
	}
	data, err := encode(forPanel(img))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 64 * 64 {
		x, y := i%64, i/64
		want := img.NRGBAAt(x, y)
		if want.A == 0 {
			continue
		}
		// As fyne.io/systray converts it.
		r, g, b, a := decoded.At(x, y).RGBA()
		if got := (color.NRGBA{R: byte(r), G: byte(g), B: byte(b), A: byte(a)}); got != want {
			t.Fatalf("(%d, %d): the panel gets %v, want %v", x, y, got, want)
		}
		// As everyone else does, blended onto a panel.
		wr, wg, wb, _ := want.RGBA()
		for _, d := range []int{int(r) - int(wr), int(g) - int(wg), int(b) - int(wb)} {
			if d > 0x101 || d < -0x101 {
				t.Fatalf("(%d, %d): a channel is off by %d of 65535", x, y, d)
			}
		}
	}
}
