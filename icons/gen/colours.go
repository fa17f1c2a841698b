package main

import (
	"image"
	"image/color"

	"lamplighter/icons"
)

// palette gives each mark its ink.
type palette map[icons.Mark]string

// The colours of the states. Light and dark are those of the page; both is for
// a menu or panel of unknown darkness and keeps 3:1 against either.
var (
	onLight = inGrey("#1a7f4b", "#9a6700", "#c0362c", "#6b7280")
	onDark  = inGrey("#3fb97a", "#d9a321", "#f0766c", "#9aa3b2")
	both    = inGrey("#2b9a5d", "#b57d0c", "#e6493d", "#858d9b")
	black   = inGrey("#000", "#000", "#000", "#000")
)

func inGrey(project, noProject, zombie, grey string) palette {
	return palette{
		icons.Project: project, icons.NoProject: noProject, icons.Zombie: zombie,
		icons.Starting: grey, icons.Parked: grey, icons.Ended: grey,
	}
}

// The colours in app/lamplighter.svg. The amber of the glass is the accent of the
// whole product. The metal lies between both kinds of panel, so that the shape is
// readable where amber alone would not be.
const (
	amber  = "#eaa45d"
	bronze = "#b07a40"
	light  = "#fff3d6"
)

// ink is what a style of the lantern is drawn with.
type ink struct {
	metal, cold  string // lit and not lit
	coldOpacity  string
	glass, flame string
	marks        palette
}

// Unlit the lantern of the auto style loses its warmth instead of its contrast. The
// others have one ink, and a lit lantern is one with a flame in its window: a filled
// window would leave a mere silhouette.
var inks = map[string]ink{
	"tray-auto":  {bronze, "#88857f", "1", amber, light, both},
	"tray-light": {"#2e3338", "#5a5f65", "1", "none", "#2e3338", onLight},
	"tray-dark":  {"#f2f2f0", "#c2c3c3", "1", "none", "#f2f2f0", onDark},
	// The system replaces the colour and keeps the opacity.
	"template": {"#000", "#000", ".784", "none", "#000", black},
}

// forPanel gives a picture with 16 bits per channel that looks the same and
// survives fyne.io/systray 1.12: on its way to a D-Bus panel the library takes
// the low byte of each premultiplied 16-bit value where the panel expects the
// straight 8-bit one, so that translucent pixels, the edges above all, come
// out in random colours. Each channel is moved, by less than half an 8-bit
// step, to the nearest value whose low byte, premultiplied, is the right one.
func forPanel(img image.Image) *image.NRGBA64 {
	out := image.NewNRGBA64(img.Bounds())
	channel := func(v, alpha uint8) uint16 {
		a := int(alpha) * 0x101
		if a == 0 {
			return 0
		}
		right := int(v) * 0x101 * a / 0xffff // premultiplied
		near := right&^0xff | int(v)
		if near < right-0x80 {
			near += 0x100
		}
		if near > min(right+0x80, a) {
			near -= 0x100
		}
		if near < 0 {
			near += 0x100
		}
		return uint16((near*0xffff + a - 1) / a) // the smallest that gives near again
	}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			out.SetNRGBA64(x, y, color.NRGBA64{
				R: channel(c.R, c.A), G: channel(c.G, c.A), B: channel(c.B, c.A), A: uint16(c.A) * 0x101,
			})
		}
	}
	return out
}
