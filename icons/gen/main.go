// Command gen makes the icons of the tray and of the application from
// app/lamplighter.svg and gen/marks.svg, in the colours of colours.go. Chromium
// draws them. The files are committed:
//
//	go generate ./icons
package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackmordaunt/icns/v3"

	"lamplighter/icons"
)

//go:embed marks.svg
var marks string

// The sizes in px. A PNG of the tray is scaled down by whoever shows it, mostly to
// 16 px, which leaves clean lines only when it is a halving. Windows picks one of
// several by the scaling of the screen; the icon theme specification names those of
// an application.
var (
	shownSize = 32
	trayIco   = []int{16, 24, 32}
	itemIco   = []int{16, 32}
	appSizes  = []int{16, 22, 24, 32, 48, 64, 128, 256}
	appIco    = []int{16, 24, 32, 48, 64, 256}
	appIcns   = []icns.OsType{{ID: "ic11", Size: 32}, {ID: "ic12", Size: 64}, {ID: "ic07", Size: 128}, {ID: "ic08", Size: 256}, {ID: "ic13", Size: 256}, {ID: "ic09", Size: 512}, {ID: "ic14", Size: 512}}
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	pictures, err := drawAll(sources())
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for name, bySize := range pictures {
		add := addArt
		if name == "lamplighter" {
			add = addApp
		}
		if err := add(files, name, bySize); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.FromSlash(name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// source is a picture as the content of an SVG, and the sizes it is drawn in.
type source struct {
	name, svg string
	sizes     []int
}

// sources are all pictures, by the names of their files.
func sources() []source {
	list := []source{{"lamplighter", lantern(inks["tray-auto"], icons.Project), append(appSizes, 512)}}
	for _, m := range icons.Marks() {
		list = append(list, source{"item-" + string(m), mark(string(m), both[m]), itemIco})
	}
	for style, k := range inks {
		// Ended is never the worst state of a snapshot.
		for _, worst := range []icons.Mark{icons.Project, icons.NoProject, icons.Zombie, icons.Starting, icons.Parked, icons.None} {
			list = append(list, source{style + "-" + cmp.Or(string(worst), "none"), lantern(k, worst), trayIco})
		}
	}
	return list
}

// lantern is the icon of the tray: lit with a flame, unlit with an empty window. It
// steps aside for its badge. All parked is unlit, and the crescent says why.
func lantern(k ink, worst icons.Mark) string {
	metal, glass, flame, opacity := k.metal, k.glass, k.flame, "1"
	if worst == icons.None || worst == icons.Parked {
		metal, glass, flame, opacity = k.cold, "none", "none", k.coldOpacity
	}
	body := strings.NewReplacer(`width="256" height="256"`, `width="32" height="32"`, amber, glass, bronze, metal, light, flame).Replace(string(icons.Application()))
	body = `<g opacity="` + opacity + `">` + body + `</g>`
	switch worst {
	case icons.None, icons.Project:
		return body
	case icons.Zombie:
		return `<g mask="url(#badge-zombie-room)"><g transform="translate(-4)">` + body + `</g></g>` + mark("badge-zombie", k.marks[worst])
	}
	badge := `<g transform="translate(24 24) scale(.5692) translate(-16 -16)">` + mark(string(worst), k.marks[worst]) + `</g>`
	return `<g mask="url(#badge-room)"><g transform="translate(-4)">` + body + `</g></g>` + badge
}

func mark(id, colour string) string {
	return `<use href="#` + id + `" color="` + colour + `"/>`
}

// drawAll has Chromium draw all pictures in all sizes, one below the other on one
// page, and cuts them out.
func drawAll(list []source) (map[string]map[int]image.Image, error) {
	var page strings.Builder
	page.WriteString(marks)
	height := 0
	for _, s := range list {
		for _, size := range s.sizes {
			fmt.Fprintf(&page, `<svg viewBox="0 0 32 32" style="position:absolute;left:0;top:%dpx" width="%d" height="%d">%s</svg>`, height, size, size, s.svg)
			height += size
		}
	}
	sheet, err := screenshot(page.String(), height)
	if err != nil {
		return nil, err
	}
	pictures, top := map[string]map[int]image.Image{}, 0
	for _, s := range list {
		pictures[s.name] = map[int]image.Image{}
		for _, size := range s.sizes {
			img := image.NewNRGBA(image.Rect(0, 0, size, size))
			draw.Draw(img, img.Bounds(), sheet, image.Pt(0, top), draw.Src)
			pictures[s.name][size] = img
			top += size
		}
	}
	return pictures, nil
}

func screenshot(page string, height int) (image.Image, error) {
	dir, err := os.MkdirTemp("", "icons")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	html, out := filepath.Join(dir, "page.html"), filepath.Join(dir, "sheet.png")
	if err := os.WriteFile(html, []byte("<!doctype html>"+page), 0o600); err != nil {
		return nil, err
	}
	// The page is our own, so it needs no sandbox, which root cannot have.
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+dir, "--default-background-color=00000000",
		"--window-size=512,"+strconv.Itoa(height), "--screenshot="+out, "file://"+html)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("drawing with Chromium: %w\n%s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(data))
}

// addArt adds an icon of the tray or its menu: as PNG, and as ICO for Windows, which
// has no template.
func addArt(files map[string][]byte, name string, bySize map[int]image.Image) (err error) {
	shown, sizes := bySize[shownSize], itemIco
	if strings.HasPrefix(name, "tray-") {
		shown, sizes = forPanel(shown), trayIco
	}
	if files["art/"+name+".png"], err = encode(shown); err == nil && !strings.HasPrefix(name, "template-") {
		files["art/"+name+".ico"], err = ico(sizes, bySize)
	}
	return err
}

// addApp adds the icon of the application in every format.
func addApp(files map[string][]byte, name string, bySize map[int]image.Image) (err error) {
	for _, size := range appSizes {
		if files[fmt.Sprintf("app/%s-%d.png", name, size)], err = encode(bySize[size]); err != nil {
			return err
		}
	}
	if files["app/"+name+".ico"], err = ico(appIco, bySize); err != nil {
		return err
	}
	var set icns.IconSet
	for _, kind := range appIcns {
		set.Icons = append(set.Icons, &icns.Icon{Type: kind, Image: bySize[int(kind.Size)]})
	}
	var b bytes.Buffer
	_, err = set.WriteTo(&b)
	files["app/"+name+".icns"] = b.Bytes()
	return err
}

func encode(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img)
	return b.Bytes(), err
}

// ico packs pictures of several sizes into one file: ICONDIR and ICONDIRENTRY of
// the Windows SDK, with PNG data as Windows reads it since Vista.
func ico(sizes []int, bySize map[int]image.Image) ([]byte, error) {
	const dirSize, entrySize = 6, 16
	le := binary.LittleEndian
	head := le.AppendUint16([]byte{0, 0, 1, 0}, uint16(len(sizes)))
	var body []byte
	for _, size := range sizes {
		data, err := encode(bySize[size])
		if err != nil {
			return nil, err
		}
		head = append(head, uint8(size), uint8(size), 0, 0, 1, 0, 32, 0) // 256 is 0
		head = le.AppendUint32(head, uint32(len(data)))
		head = le.AppendUint32(head, uint32(dirSize+entrySize*len(sizes)+len(body)))
		body = append(body, data...)
	}
	return append(head, body...), nil
}
