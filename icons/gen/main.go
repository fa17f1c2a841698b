// Command gen draws the icons and writes them into the directories it is given,
// those of the tray and those of the application:
//
//	go generate ./icons
//
// Everything is drawn once, as shapes on a grid of 32 units, and rendered at
// each size that is shown. The files are committed; a test draws them again
// and compares.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/icons"
)

// The sizes in px. A PNG is scaled down by whoever shows it, mostly to 16 px,
// which leaves clean lines only when it is a halving. A Windows icon holds several, because Windows picks one by
// the scaling of the screen.
const (
	traySize = 32
	itemSize = 32
)

var (
	trayIcoSizes = []int{16, 24, 32}
	itemIcoSizes = []int{16, 32}
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want two arguments, the directories to write to, got %d", len(args))
	}
	for i, draw := range []func() (map[string][]byte, error){draw, drawApp} {
		files, err := draw()
		if err != nil {
			return err
		}
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(args[i], name), data, 0o644); err != nil {
				return fmt.Errorf("write an icon: %w", err)
			}
		}
	}
	return nil
}

// draw gives every icon of the tray and its menu by its file name.
func draw() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, m := range icons.Marks() {
		if err := add(files, "item-"+string(m), item(m), itemSize, itemIcoSizes); err != nil {
			return nil, err
		}
	}
	for style, k := range inks {
		for _, worst := range append(icons.Marks(), icons.None) {
			if worst == icons.Ended {
				continue // never the worst state of a snapshot
			}
			name := "tray-" + style + "-"
			ico := trayIcoSizes
			if style == "template" {
				name, ico = "template-", nil
			}
			if worst == icons.None {
				name += "none"
			}
			if err := add(files, name+string(worst), lantern(k, worst), traySize, ico); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// add encodes one icon as PNG and, when sizes are given, as ICO.
func add(files map[string][]byte, name string, d drawing, size int, icoSizes []int) error {
	img := render(size, d)
	var picture image.Image = img
	if strings.HasPrefix(name, "tray-") {
		picture = forPanel(img)
	}
	data, err := encode(picture)
	if err != nil {
		return err
	}
	files[name+".png"] = data
	if len(icoSizes) == 0 {
		return nil
	}
	var pictures []*image.NRGBA
	for _, n := range icoSizes {
		if n == size {
			pictures = append(pictures, img)
		} else {
			pictures = append(pictures, render(n, d))
		}
	}
	data, err = ico(pictures)
	if err != nil {
		return err
	}
	files[name+".ico"] = data
	return nil
}

// forPanel gives a picture with 16 bits per channel that looks the same and
// survives fyne.io/systray 1.12: on its way to a D-Bus panel the library takes
// the low byte of each premultiplied 16-bit value where the panel expects the
// straight 8-bit one, so that translucent pixels, the edges above all, come
// out in random colours. Each channel is moved, by less than half an 8-bit
// step, to the nearest value whose low byte, premultiplied, is the right one.
func forPanel(img *image.NRGBA) *image.NRGBA64 {
	out := image.NewNRGBA64(img.Bounds())
	channel := func(v, alpha uint8) uint16 {
		a := int(alpha) * 0x101
		if a == 0 {
			return 0
		}
		right := int(v) * 0x101 * a / 0xffff // premultiplied
		near := right&^0xff | int(v)
		switch {
		case near-right > 0x80:
			near -= 0x100
		case right-near > 0x80:
			near += 0x100
		}
		for near > a {
			near -= 0x100
		}
		for near < 0 {
			near += 0x100
		}
		return uint16((near*0xffff + a - 1) / a) // the smallest that gives near again
	}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := img.NRGBAAt(x, y)
			out.SetNRGBA64(x, y, color.NRGBA64{
				R: channel(c.R, c.A), G: channel(c.G, c.A), B: channel(c.B, c.A), A: uint16(c.A) * 0x101,
			})
		}
	}
	return out
}

func encode(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("encode a PNG of %v: %w", img.Bounds(), err)
	}
	return b.Bytes(), nil
}

// ico packs pictures of several sizes into one file: ICONDIR and ICONDIRENTRY of
// the Windows SDK, with PNG data as Windows reads it since Vista.
func ico(pictures []*image.NRGBA) ([]byte, error) {
	const dirSize, entrySize = 6, 16
	var head, body bytes.Buffer
	le := func(values ...any) {
		for _, v := range values {
			binary.Write(&head, binary.LittleEndian, v) // a bytes.Buffer does not fail
		}
	}
	le(uint16(0), uint16(1), uint16(len(pictures)))
	for _, img := range pictures {
		size := img.Bounds().Dx()
		data, err := encode(img)
		if err != nil {
			return nil, err
		}
		offset := dirSize + entrySize*len(pictures) + body.Len()
		le(uint8(size), uint8(size), uint8(0), uint8(0), uint16(1), uint16(32), uint32(len(data)), uint32(offset))
		body.Write(data)
	}
	return append(head.Bytes(), body.Bytes()...), nil
}
