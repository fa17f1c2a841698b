package main

import (
	"fmt"
	"image/color"
	"maps"
	"strconv"
	"strings"

	"lamplighter/icons"
)

// appSizes are those of the icon theme specification that menus and lists of
// applications ask for, in px.
var appSizes = []int{16, 22, 24, 32, 48, 64, 128, 256}

// drawApp gives the icon of the application by its file names: the lantern of
// the tray, lit and without a badge.
func drawApp() (map[string][]byte, error) {
	files := map[string][]byte{"lamplighter.svg": []byte(appSVG())}
	for _, size := range appSizes {
		data, err := encode(render(size, lantern(inks[icons.StyleAuto], icons.Project)))
		if err != nil {
			return nil, err
		}
		files["lamplighter-"+strconv.Itoa(size)+".png"] = data
	}
	several, err := appFiles(lantern(inks[icons.StyleAuto], icons.Project))
	if err != nil {
		return nil, err
	}
	maps.Copy(files, several)
	return files, nil
}

// appSVG is what body draws, in the words of SVG 1.1.
func appSVG() string {
	const cx = grid / 2
	k := inks[icons.StyleAuto]
	glass, roof, foot := outlines(cx)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[1]g" width="256" height="256">`, grid)
	line(`  <title>Lamplighter</title>`)
	line(`  <mask id="hole"><rect width="%[1]g" height="%[1]g" fill="#fff"/><circle cx="%g" cy="%g" r="%g"/></mask>`, grid, cx, ringY, ringHole)
	line(`  <polygon points="%s" fill="%s"/>`, points(glass), hex(k.glass))
	line(`  <g mask="url(#hole)" fill="%s">`, hex(k.metal))
	line(`    <circle cx="%g" cy="%g" r="%g"/>`, cx, ringY, ringRadius)
	line(`    <polygon points="%s"/>`, points(roof))
	line(`    <polygon points="%s" fill="none" stroke="%s" stroke-width="%g" stroke-linejoin="round"/>`, points(glass), hex(k.metal), frameWidth)
	line(`    <polygon points="%s"/>`, points(foot))
	line(`  </g>`)
	line(`  <g fill="%s">`, hex(k.flame))
	line(`    <circle cx="%g" cy="%g" r="%g"/>`, cx, flameY, flameRadius)
	line(`    <polygon points="%s"/>`, points(tip(cx)))
	line(`  </g>`)
	line(`</svg>`)
	return b.String()
}

func points(p []float64) string {
	var pairs []string
	for i := 0; i < len(p); i += 2 {
		pairs = append(pairs, fmt.Sprintf("%.4g,%.4g", p[i], p[i+1]))
	}
	return strings.Join(pairs, " ")
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
