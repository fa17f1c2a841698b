package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"testing"
)

// appIcons draws something simple in both formats.
func appIcons(t *testing.T) (windows, mac []byte) {
	t.Helper()
	files, err := appFiles(func(int) []layer { return []layer{{disc(16, 16, 12), rgb(0x2b9a5d)}} })
	if err != nil {
		t.Fatal(err)
	}
	return files["lamplighter.ico"], files["lamplighter.icns"]
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

// The file is read back by what its format says, and not by how it was written.
func TestIconOfWindows(t *testing.T) {
	data, _ := appIcons(t)
	if n := int(binary.LittleEndian.Uint16(data[4:])); n != len(appIcoSizes) {
		t.Fatalf("%d pictures", n)
	}
	for i, want := range appIcoSizes {
		entry := data[6+16*i:]
		length, offset := binary.LittleEndian.Uint32(entry[8:]), binary.LittleEndian.Uint32(entry[12:])
		if got := sizeOf(t, data[offset:offset+length]); got != want {
			t.Errorf("picture %d is %d px, want %d", i, got, want)
		}
		if byte(want) != entry[0] || byte(want) != entry[1] { // 0 stands for 256
			t.Errorf("picture %d is listed with %d × %d px", i, entry[0], entry[1])
		}
	}
}

func TestIconOfMacOS(t *testing.T) {
	_, data := appIcons(t)
	if string(data[:4]) != "icns" || int(binary.BigEndian.Uint32(data[4:])) != len(data) {
		t.Fatalf("head %q for %d bytes", data[:8], len(data))
	}
	names := map[string]int{}
	for rest := data[8:]; len(rest) > 0; {
		length := binary.BigEndian.Uint32(rest[4:])
		names[string(rest[:4])] = sizeOf(t, rest[8:length])
		rest = rest[length:]
	}
	want := map[string]int{"ic11": 32, "ic12": 64, "ic07": 128, "ic08": 256, "ic13": 256, "ic09": 512, "ic14": 512}
	if len(names) != len(want) {
		t.Errorf("%v", names)
	}
	for name, size := range want {
		if names[name] != size {
			t.Errorf("%s is %d px, want %d", name, names[name], size)
		}
	}
}

func TestIconOfMacOSInAnOddSize(t *testing.T) {
	if _, err := icns([]*image.NRGBA{image.NewNRGBA(image.Rect(0, 0, 48, 48))}); err == nil {
		t.Error("a picture without a type was taken")
	}
}
