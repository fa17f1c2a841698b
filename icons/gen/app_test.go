package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strconv"
	"testing"
)

func TestApplicationIcons(t *testing.T) {
	files, err := drawApp()
	if err != nil {
		t.Fatal(err)
	}
	sameAsCommitted(t, "app", files)
	for _, size := range appSizes {
		data := files["lamplighter-"+strconv.Itoa(size)+".png"]
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%d px: %v", size, err)
		}
		if got := img.Bounds().Dx(); got != size || img.Bounds().Dy() != size {
			t.Errorf("the picture of %d px is %v", size, img.Bounds())
		}
		if len(data) > 20_000 {
			t.Errorf("the picture of %d px has %d bytes, more than 20,000", size, len(data))
		}
	}
}

// What is drawn at 256 px and what the SVG says come from the same corners; here
// it is enough that the SVG is one.
func TestApplicationSVGIsWellFormed(t *testing.T) {
	d := xml.NewDecoder(bytes.NewReader([]byte(appSVG())))
	elements := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
			for _, a := range e.Attr {
				if bytes.Contains([]byte(a.Value), []byte("%!")) {
					t.Errorf("<%s %s=%q>", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	if elements["svg"] != 1 || elements["polygon"] != 5 || elements["circle"] != 3 {
		t.Errorf("elements %v", elements)
	}
}
