package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"lamplighter/icons"
)

// Drawing is slow with the race detector, so it happens once for both.
func TestFiles(t *testing.T) {
	files, err := draw()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("are those committed", func(t *testing.T) { sameAsCommitted(t, "art", files) })
	t.Run("are small", func(t *testing.T) { small(t, files) })
}

func sameAsCommitted(t *testing.T, dir string, files map[string][]byte) {
	entries, err := os.ReadDir(filepath.Join("..", dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok {
			t.Errorf("%s/%s is not drawn by the generator", dir, e.Name())
		}
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s/%s differs from what is drawn (error %v): run go generate ./icons", dir, name, err)
		}
	}
}

func small(t *testing.T, files map[string][]byte) {
	sum := map[string]int{}
	for name, data := range files {
		sum[filepath.Ext(name)] += len(data)
	}
	for ext, n := range sum {
		if n > 60_000 {
			t.Errorf("%s files are %d bytes together, more than 60,000", ext, n)
		}
	}
}

func TestContrastOfInks(t *testing.T) {
	lightGrounds := []color.NRGBA{rgb(0xffffff), rgb(0xf5f5f5)}
	darkGrounds := []color.NRGBA{rgb(0x1a1a1a), rgb(0x2d2d2d), rgb(0x353535)}
	all := append(append([]color.NRGBA{}, lightGrounds...), darkGrounds...)
	check := func(name string, c color.NRGBA, grounds []color.NRGBA) {
		for _, g := range grounds {
			if r := contrast(c, g); r < 3 {
				t.Errorf("%s %v on %v: contrast %.2f, want 3", name, c, g, r)
			}
		}
	}
	for _, m := range icons.Marks() {
		check(string(m), both[m], all)
		check(string(m)+" light", light[m], lightGrounds)
		check(string(m)+" dark", dark[m], darkGrounds)
	}
	for style, grounds := range map[string][]color.NRGBA{
		icons.StyleAuto: all, icons.StyleLight: lightGrounds, icons.StyleDark: darkGrounds,
	} {
		check("lantern "+style, inks[style].metal, grounds)
		check("unlit lantern "+style, inks[style].cold, grounds)
	}
}

// Two marks of the same colour would have to differ in more than a few
// pixels even at the smallest size that is shown.
func TestShapesDifferWithoutColour(t *testing.T) {
	const size = 16
	covered := func(m icons.Mark) [size * size]bool {
		var c [size * size]bool
		img := render(size, item(m))
		for i := range c {
			c[i] = img.Pix[4*i+3] > 0x80
		}
		return c
	}
	marks := icons.Marks()
	for i, a := range marks {
		for _, b := range marks[:i] {
			differ := 0
			ca, cb := covered(a), covered(b)
			for p := range ca {
				if ca[p] != cb[p] {
					differ++
				}
			}
			if differ < 20 {
				t.Errorf("%s and %s differ in %d of %d pixels only", a, b, differ, size*size)
			}
		}
	}
}

func TestICOHoldsReadablePNGs(t *testing.T) {
	var pictures []*image.NRGBA
	for _, size := range itemIcoSizes {
		pictures = append(pictures, render(size, item(icons.Zombie)))
	}
	data, err := ico(pictures)
	if err != nil {
		t.Fatal(err)
	}
	if n := int(binary.LittleEndian.Uint16(data[4:])); n != len(itemIcoSizes) {
		t.Fatalf("%d images, want %d", n, len(itemIcoSizes))
	}
	for i, size := range itemIcoSizes {
		entry := data[6+16*i:]
		length, offset := binary.LittleEndian.Uint32(entry[8:]), binary.LittleEndian.Uint32(entry[12:])
		img, err := png.Decode(bytes.NewReader(data[offset : offset+length]))
		if err != nil {
			t.Fatal(err)
		}
		if img.Bounds().Dx() != size || int(entry[0]) != size {
			t.Errorf("image %d is %d px, entry says %d, want %d", i, img.Bounds().Dx(), entry[0], size)
		}
	}
}

func TestPanelPicturesSurviveTheLibrary(t *testing.T) {
	for style, k := range inks {
		img := render(traySize, lantern(k, icons.Zombie))
		data, err := encode(forPanel(img))
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for y := range traySize {
			for x := range traySize {
				want := img.NRGBAAt(x, y)
				if want.A == 0 {
					continue
				}
				// As fyne.io/systray converts it.
				r, g, b, a := decoded.At(x, y).RGBA()
				if got := (color.NRGBA{R: byte(r), G: byte(g), B: byte(b), A: byte(a)}); got != want {
					t.Fatalf("%s (%d, %d): the panel gets %v, want %v", style, x, y, got, want)
				}
				// As everyone else does, blended onto a panel.
				wr, wg, wb, _ := want.RGBA()
				for i, d := range [...]int{int(r) - int(wr), int(g) - int(wg), int(b) - int(wb)} {
					if d > 0x101 || d < -0x101 {
						t.Fatalf("%s (%d, %d): channel %d is off by %d of 65535", style, x, y, i, d)
					}
				}
			}
		}
	}
}

// The bar and the dot of the warning are one column of whole pixels at 16 px,
// also when that comes from halving the picture of 32 px.
func TestWarningIsCrispWhenSmall(t *testing.T) {
	d := lantern(inks[icons.StyleLight], icons.Zombie)
	for _, size := range []int{16, 32} {
		img, n := render(size, d), size/16
		for i, want := range []uint8{0, 0, 0, 0xff, 0, 0xff} {
			for p := range n * n {
				x, y := 11*n+p%n, (10+i)*n+p/n
				if got := img.NRGBAAt(x, y).A; got != want {
					t.Errorf("%d px: pixel (%d, %d) has opacity %d, want %d", size, x, y, got, want)
				}
			}
		}
	}
}

// Without colour, a lantern must show a window, and a flame in it when lit.
func TestLanternOfOneInkHasAWindow(t *testing.T) {
	for _, style := range []string{icons.StyleLight, icons.StyleDark, "template"} {
		for _, size := range []int{16, 22, 32} {
			for _, worst := range []icons.Mark{icons.Project, icons.None} {
				img := render(size, lantern(inks[style], worst))
				var changes, last int
				for x := range size {
					if now := int(img.NRGBAAt(x, size*19/32).A) / 0x80; now != last {
						changes, last = changes+1, now
					}
				}
				want := 4 // two bars of the frame
				if worst == icons.Project {
					want = 6 // and the flame between them
				}
				if changes != want {
					t.Errorf("%s %q, %d px: the middle changes %d times, want %d", style, worst, size, changes, want)
				}
			}
		}
	}
}
