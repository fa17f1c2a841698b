package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
)

// The sizes in px of the program's own icon in the files of Windows and of
// macOS. Windows shows 16 to 48 in lists and title bars and 256 on a desktop.
var (
	appIcoSizes  = []int{16, 24, 32, 48, 64, 256}
	appIcnsSizes = []int{32, 64, 128, 256, 512}
)

// icnsTypes are the names that the pictures of one size have in a file of macOS:
// 256 px is 256 points on a plain screen and 128 on one of double density. That
// of 16 points has only the latter, because PNG at 16 px is not read by all
// versions.
//
// Source: "Apple Icon Image format", the types that hold PNG.
var icnsTypes = map[int][]string{
	32:  {"ic11"},
	64:  {"ic12"},
	128: {"ic07"},
	256: {"ic08", "ic13"},
	512: {"ic09", "ic14"},
}

// appFiles gives the program's icon in the two formats that hold several sizes,
// by file name.
func appFiles(d drawing) (map[string][]byte, error) {
	windows, err := ico(renderAll(appIcoSizes, d))
	if err != nil {
		return nil, err
	}
	mac, err := icns(renderAll(appIcnsSizes, d))
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"lamplighter.ico": windows, "lamplighter.icns": mac}, nil
}

func renderAll(sizes []int, d drawing) []*image.NRGBA {
	var pictures []*image.NRGBA
	for _, size := range sizes {
		pictures = append(pictures, render(size, d))
	}
	return pictures
}

// icns packs pictures into one file: a head and one entry per type, each of four
// letters and its own length.
func icns(pictures []*image.NRGBA) ([]byte, error) {
	const headSize = 8
	var body bytes.Buffer
	entry := func(b *bytes.Buffer, name string, data []byte) {
		b.WriteString(name)
		binary.Write(b, binary.BigEndian, uint32(headSize+len(data))) // a bytes.Buffer does not fail
		b.Write(data)
	}
	for _, img := range pictures {
		size := img.Bounds().Dx()
		if len(icnsTypes[size]) == 0 {
			return nil, fmt.Errorf("an icon of macOS has no picture of %d px", size)
		}
		data, err := encode(img)
		if err != nil {
			return nil, err
		}
		for _, name := range icnsTypes[size] {
			entry(&body, name, data)
		}
	}
	var file bytes.Buffer
	entry(&file, "icns", body.Bytes())
	return file.Bytes(), nil
}
