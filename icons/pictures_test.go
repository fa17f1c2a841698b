package icons

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func content(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// picture is one of the tray or its menu, of 32 px.
func picture(t *testing.T, name string) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(content(t, filepath.Join("art", name+".png"))))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// opacity is that of a pixel, 0 to 255.
func opacity(img image.Image, x, y int) int {
	_, _, _, a := img.At(x, y).RGBA()
	return int(a >> 8)
}

// Two marks of the same colour would have to differ in more than a few pixels.
func TestShapesDifferWithoutColour(t *testing.T) {
	for i, a := range Marks() {
		for _, b := range Marks()[:i] {
			first, second, differ := picture(t, "item-"+string(a)), picture(t, "item-"+string(b)), 0
			for p := range 32 * 32 {
				if (opacity(first, p%32, p/32) > 0x80) != (opacity(second, p%32, p/32) > 0x80) {
					differ++
				}
			}
			if differ < 80 {
				t.Errorf("%s and %s differ in %d pixels only", a, b, differ)
			}
		}
	}
}

// The bar and the dot of the warning are one column of whole pixels when the
// picture is halved to 16 px.
func TestWarningIsCrispWhenSmall(t *testing.T) {
	img := picture(t, "tray-light-zombie")
	for i, want := range []int{0, 0, 0, 0xff, 0, 0xff} {
		for p := range 4 {
			if x, y := 22+p%2, 20+2*i+p/2; opacity(img, x, y) != want {
				t.Errorf("pixel (%d, %d) has opacity %d, want %d", x, y, opacity(img, x, y), want)
			}
		}
	}
}

// Without colour, a lantern must show a window, and a flame in it when lit.
func TestLanternOfOneInkHasAWindow(t *testing.T) {
	for _, style := range []string{"tray-" + StyleLight, "tray-" + StyleDark, "template"} {
		for worst, want := range map[string]int{"none": 4, string(Project): 6} {
			img, changes, last := picture(t, style+"-"+worst), 0, 0
			for x := range 32 {
				if now := opacity(img, x, 19) / 0x80; now != last {
					changes, last = changes+1, now
				}
			}
			if changes != want {
				t.Errorf("%s %s: the middle changes %d times, want %d", style, worst, changes, want)
			}
		}
	}
}

// sizeOf is the side of a PNG in px.
func sizeOf(t *testing.T, data []byte) int {
	t.Helper()
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if c.Width != c.Height {
		t.Errorf("%d × %d px", c.Width, c.Height)
	}
	return c.Width
}

// The files of Windows are read back by what their format says.
func TestICO(t *testing.T) {
	for name, want := range map[string][]int{
		"app/lamplighter.ico": {16, 24, 32, 48, 64, 256}, "art/tray-auto-zombie.ico": {16, 24, 32}, "art/item-zombie.ico": {16, 32},
	} {
		data := content(t, name)
		var sizes []int
		for i := range int(binary.LittleEndian.Uint16(data[4:])) {
			entry := data[6+16*i:]
			length, offset := binary.LittleEndian.Uint32(entry[8:]), binary.LittleEndian.Uint32(entry[12:])
			size := sizeOf(t, data[offset:offset+length])
			if byte(size) != entry[0] || byte(size) != entry[1] { // 0 stands for 256
				t.Errorf("%s: %d px are listed as %d × %d", name, size, entry[0], entry[1])
			}
			sizes = append(sizes, size)
		}
		if !slices.Equal(sizes, want) {
			t.Errorf("%s has %v, want %v", name, sizes, want)
		}
	}
}

func TestICNS(t *testing.T) {
	data := content(t, "app/lamplighter.icns")
	if string(data[:4]) != "icns" || int(binary.BigEndian.Uint32(data[4:])) != len(data) {
		t.Fatalf("head %q for %d bytes", data[:8], len(data))
	}
	names := map[string]int{}
	for rest := data[8:]; len(rest) > 0; {
		length := binary.BigEndian.Uint32(rest[4:])
		names[string(rest[:4])] = sizeOf(t, rest[8:length])
		rest = rest[length:]
	}
	for name, size := range map[string]int{"ic11": 32, "ic12": 64, "ic07": 128, "ic08": 256, "ic13": 256, "ic09": 512, "ic14": 512} {
		if names[name] != size {
			t.Errorf("%s is %d px, want %d", name, names[name], size)
		}
	}
}

// The program holds all of one kind.
func TestFilesAreSmall(t *testing.T) {
	sum := map[string]int{}
	paths, err := filepath.Glob("art/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		sum[filepath.Ext(path)] += len(content(t, path))
	}
	for ext, n := range sum {
		if n > 60_000 {
			t.Errorf("%s files are %d bytes together, more than 60,000", ext, n)
		}
	}
}
