package main

import (
	"image/color"
	"math"

	"lamplighter/icons"
)

// palette gives each mark its ink.
type palette map[icons.Mark]color.NRGBA

// The colours of the states. Light and dark are those of the page; both is for
// a menu or panel of unknown darkness and keeps 3:1 against either.
var (
	light = palette{
		icons.Project: rgb(0x1a7f4b), icons.NoProject: rgb(0x9a6700), icons.Zombie: rgb(0xc0362c),
		icons.Starting: rgb(0x6b7280), icons.Parked: rgb(0x6b7280), icons.Ended: rgb(0x6b7280),
	}
	dark = palette{
		icons.Project: rgb(0x3fb97a), icons.NoProject: rgb(0xd9a321), icons.Zombie: rgb(0xf0766c),
		icons.Starting: rgb(0x9aa3b2), icons.Parked: rgb(0x9aa3b2), icons.Ended: rgb(0x9aa3b2),
	}
	both = palette{
		icons.Project: rgb(0x2b9a5d), icons.NoProject: rgb(0xb57d0c), icons.Zombie: rgb(0xe6493d),
		icons.Starting: rgb(0x858d9b), icons.Parked: rgb(0x858d9b), icons.Ended: rgb(0x858d9b),
	}
	black = palette{
		icons.Project: rgb(0), icons.NoProject: rgb(0), icons.Zombie: rgb(0),
		icons.Starting: rgb(0), icons.Parked: rgb(0), icons.Ended: rgb(0),
	}
)

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

// mark is the sign of a state around (cx, cy) with radius r, for a picture of
// size px. Its lines are thick enough to survive at 16 px.
func mark(m icons.Mark, cx, cy, r float64, size int) shape {
	switch m {
	case icons.Project:
		return disc(cx, cy, r)
	case icons.NoProject:
		return ring(cx, cy, r, r*.42)
	case icons.Zombie:
		return warning(cx, cy, r, size)
	case icons.Starting:
		return dashed(ring(cx, cy, r, r*.38), cx, cy, 6, .6)
	case icons.Parked:
		return minus(disc(cx, cy, r), disc(cx+.5*r, cy-.32*r, r*.82))
	}
	return union(ring(cx, cy, r, r*.24), stroke(.26*r, cx-.6*r, cy+.6*r, cx+.6*r, cy-.6*r))
}

// warning is the triangle with an exclamation mark cut out. Bar, dot and base
// begin and end on whole pixels, because at 16 px a line is one pixel wide and
// two half covered ones would blur it away; the triangle moves along to stay
// symmetric around them. A picture that can be halved down to 16 px, as panels
// and menus do, lines up with the pixels of that.
func warning(cx, cy, r float64, size int) shape {
	px := grid / float64(size)
	if size%16 == 0 {
		px = grid / 16
	}
	snap := func(v float64) float64 { return math.Round(v/px) * px }
	width, space := max(snap(.3*r), px), max(snap(.2*r), px)
	left := snap(cx - width/2)
	cy = snap(cy+.95*r) - .95*r
	top, dot := snap(cy-.5*r), snap(cy+.45*r)
	sign := union(
		box(left, top, left+width, dot-space),
		box(left, dot, left+width, dot+width),
	)
	return minus(triangle(left+width/2, cy, r, .15*r), sign)
}

// triangle stands on its base around (cx, cy), grown by round on all sides.
func triangle(cx, cy, r, round float64) shape {
	p := []float64{cx, cy - .92*r, cx + .95*r, cy + .8*r, cx - .95*r, cy + .8*r}
	return union(polygon(p...), outline(2*round, p...))
}

// item is the icon of a menu entry.
func item(m icons.Mark) drawing {
	return func(size int) []layer { return []layer{{mark(m, 16, 16, 13, size), both[m]}} }
}

// ink is what a style of the lantern is drawn with.
type ink struct {
	metal color.NRGBA
	cold  color.NRGBA // the metal when the lantern is not lit
	glass color.NRGBA // lit; without ink it is left empty
	flame color.NRGBA
	marks palette
}

// The amber of the glass is the accent of the whole product. The metal of the
// auto style lies between both kinds of panel, so that the shape is readable
// where amber alone would not be; unlit it loses its warmth instead of its
// contrast. The others have one ink, and a lit lantern is one with a flame in
// its window: a filled window would leave a mere silhouette.
var inks = map[string]ink{
	icons.StyleAuto: {
		metal: rgb(0xb07a40), cold: rgb(0x88857f), glass: rgb(0xeaa45d), flame: rgb(0xfff3d6), marks: both,
	},
	icons.StyleLight: {metal: rgb(0x2e3338), cold: rgb(0x5a5f65), flame: rgb(0x2e3338), marks: light},
	icons.StyleDark:  {metal: rgb(0xf2f2f0), cold: rgb(0xc2c3c3), flame: rgb(0xf2f2f0), marks: dark},
	// The system replaces the colour and keeps the opacity.
	"template": {metal: rgb(0), cold: color.NRGBA{A: 0xc8}, flame: rgb(0), marks: black},
}

// lantern is the tray icon: lit with a flame, unlit with an empty window. It
// steps aside for its badge. Its edges lie on even units where they can, which
// are whole pixels at 16 px.
func lantern(k ink, worst icons.Mark) drawing {
	return func(size int) []layer {
		switch worst {
		case icons.Project:
			return body(k, 16, true)
		case icons.None:
			return body(k, 16, false)
		}
		x, y, r := 24.0, 24.0, 7.4
		clearing := disc(x, y, r+1.9)
		if worst == icons.Zombie {
			x, y, r = 23, 24.4, 8 // an odd number of pixels wide at 16 px, for a bar in the middle
			clearing = triangle(x, y, r, .15*r+1.7)
		}
		// All parked is unlit, and the crescent says why.
		return append(body(k, 12, worst != icons.Parked),
			layer{shape: clearing},
			layer{mark(worst, x, y, r, size), k.marks[worst]})
	}
}

// outlines are the corners of a lantern whose middle is at cx.
func outlines(cx float64) (glass, roof, foot []float64) {
	return []float64{cx - 7.4, 11, cx + 7.4, 11, cx + 5.8, 27, cx - 5.8, 27},
		[]float64{cx - 4, 6, cx + 4, 6, cx + 10, 12, cx - 10, 12},
		[]float64{cx - 7.6, 26, cx + 7.6, 26, cx + 9, 30, cx - 9, 30}
}

// tip is the upper part of a lantern's flame, whose lower one is a disc.
func tip(cx float64) []float64 { return []float64{cx, 13.4, cx + 2.6, 19.2, cx - 2.6, 19.2} }

// The ring to hang a lantern by, its frame and its flame.
const (
	ringY, ringRadius, ringHole = 5.2, 4.4, 2.2
	frameWidth                  = 2.2
	flameY, flameRadius         = 20.2, 2.8
)

// body is the lantern itself, its middle at cx.
func body(k ink, cx float64, lit bool) []layer {
	glass, roof, foot := outlines(cx)
	metal := union(disc(cx, ringY, ringRadius), polygon(roof...), outline(frameWidth, glass...), polygon(foot...))
	metal = minus(metal, disc(cx, ringY, ringHole))
	if !lit {
		return []layer{{metal, k.cold}}
	}
	flame := union(disc(cx, flameY, flameRadius), polygon(tip(cx)...))
	return []layer{{polygon(glass...), k.glass}, {metal, k.metal}, {flame, k.flame}}
}
