package icons

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"testing"
)

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

// luminance and contrast are those of WCAG 2.
func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= .04045 {
			return f / 12.92
		}
		return math.Pow((f+.055)/1.055, 2.4)
	}
	return .2126*lin(c.R) + .7152*lin(c.G) + .0722*lin(c.B)
}

func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a)+.05, luminance(b)+.05
	return max(x, y) / min(x, y)
}

// rimContrasts measures how well a drawing stands out from a ground, for each
// of its pieces, lantern and badge: the WCAG contrast that at least three
// quarters of the piece's rim have. A piece is a set of pixels of half opacity
// or more that touch at a side or a corner, at least four of them. Its rim are
// the opaque ones among them next to one that is not opaque: the anti-aliased
// edge itself is left out, as WCAG does, and so is what lies further in, glass
// and flame, which meets no ground. A piece without an opaque pixel has 1, no
// contrast at all.
func rimContrasts(img image.Image, ground color.NRGBA) []float64 {
	bounds := img.Bounds()
	at := func(p image.Point) color.NRGBA {
		return color.NRGBAModel.Convert(img.At(p.X, p.Y)).(color.NRGBA)
	}
	seen := map[image.Point]bool{}
	var contrasts []float64
	for i := range bounds.Dx() * bounds.Dy() {
		start := bounds.Min.Add(image.Pt(i%bounds.Dx(), i/bounds.Dx()))
		if seen[start] || at(start).A < 0x80 {
			continue
		}
		seen[start] = true
		var rim []float64
		piece := []image.Point{start}
		for n := 0; n < len(piece); n++ {
			edge := false
			for d := range 9 {
				p := piece[n].Add(image.Pt(d%3-1, d/3-1))
				alpha := at(p).A // 0 outside the picture
				edge = edge || alpha < 0xff
				if alpha >= 0x80 && !seen[p] {
					seen[p] = true
					piece = append(piece, p)
				}
			}
			if c := at(piece[n]); edge && c.A == 0xff {
				rim = append(rim, contrast(c, ground))
			}
		}
		switch slices.Sort(rim); {
		case len(piece) < 4:
		case len(rim) == 0:
			contrasts = append(contrasts, 1)
		default:
			contrasts = append(contrasts, rim[len(rim)/4])
		}
	}
	return contrasts
}

func TestContrastOfCommittedPictures(t *testing.T) {
	lightPanel, darkPanel := rgb(0xf5f5f5), rgb(0x353535)
	type onGrounds struct {
		name    string
		grounds []color.NRGBA
	}
	var pictures []onGrounds
	for _, m := range Marks() {
		menus := []color.NRGBA{rgb(0xffffff), lightPanel, rgb(0x2d2d2d), darkPanel}
		pictures = append(pictures, onGrounds{"item-" + string(m), menus})
	}
	for style, panels := range map[string][]color.NRGBA{
		StyleAuto:  {lightPanel, darkPanel},
		StyleLight: {lightPanel},
		StyleDark:  {darkPanel},
	} {
		for _, worst := range []string{"none", "live_with_project", "live_no_project", "starting", "parked", "zombie"} {
			pictures = append(pictures, onGrounds{"tray-" + style + "-" + worst, panels})
		}
	}
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			img := picture(t, p.name)
			for _, ground := range p.grounds {
				on := fmt.Sprintf("on #%02x%02x%02x", ground.R, ground.G, ground.B)
				contrasts := rimContrasts(img, ground)
				t.Logf("%s: %.2f", on, contrasts)
				if len(contrasts) == 0 {
					t.Errorf("%s: nothing is drawn", on)
				}
				for _, c := range contrasts {
					if c < 3 {
						t.Errorf("%s: a piece has contrast %.2f, want 3", on, c)
					}
				}
			}
		})
	}
}

// The measure itself, on pictures where the answer is known.
func TestRimContrasts(t *testing.T) {
	white, black, ground := rgb(0xffffff), rgb(0), rgb(0xffffff)
	square := func(img *image.NRGBA, x, y, side int, c color.NRGBA) {
		for i := range side * side {
			img.SetNRGBA(x+i%side, y+i/side, c)
		}
	}
	for _, c := range []struct {
		name string
		draw func(*image.NRGBA)
		want []float64
	}{
		{"nothing", func(*image.NRGBA) {}, nil},
		{"faint", func(img *image.NRGBA) { square(img, 2, 2, 6, color.NRGBA{A: 0x70}) }, nil},
		{"translucent", func(img *image.NRGBA) { square(img, 2, 2, 6, color.NRGBA{A: 0xc8}) }, []float64{1}},
		{"a speck", func(img *image.NRGBA) { square(img, 2, 2, 1, black) }, nil},
		{"black", func(img *image.NRGBA) { square(img, 2, 2, 6, black) }, []float64{21}},
		{"a frame around what cannot be seen", func(img *image.NRGBA) {
			square(img, 2, 2, 6, black)
			square(img, 3, 3, 4, white)
		}, []float64{21}},
		{"what can be seen in a frame that cannot", func(img *image.NRGBA) {
			square(img, 2, 2, 6, white)
			square(img, 3, 3, 4, black)
		}, []float64{1}},
		{"one piece of two cannot be seen", func(img *image.NRGBA) {
			square(img, 0, 0, 6, black)
			square(img, 8, 8, 6, white)
		}, []float64{21, 1}},
		{"up to the edge", func(img *image.NRGBA) { square(img, 0, 0, 16, black) }, []float64{21}},
	} {
		img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
		c.draw(img)
		got := rimContrasts(img, ground)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < .01 }) {
			t.Errorf("%s: %.2f, want %.2f", c.name, got, c.want)
		}
	}
}
