package main

import (
	"image"
	"image/color"
	"math"
	"slices"
)

// grid is the side of the square that everything is drawn on.
const grid = 32.0

// samples is the number of points per pixel and direction that decide how
// much of the pixel a shape covers.
const samples = 8

// shape tells whether a point of the grid belongs to it.
type shape func(x, y float64) bool

// layer is a shape in one colour; later layers lie above earlier ones. A layer
// without ink clears what is below it.
type layer struct {
	shape shape
	ink   color.NRGBA
}

// drawing gives the layers of a picture of size px. Most do not depend on the
// size; some line up with its pixels.
type drawing func(size int) []layer

func box(x0, y0, x1, y1 float64) shape {
	return func(x, y float64) bool { return x >= x0 && x < x1 && y >= y0 && y < y1 }
}

func disc(cx, cy, r float64) shape {
	return func(x, y float64) bool { return sq(x-cx)+sq(y-cy) <= sq(r) }
}

// ring is a circle of the given width, r its outer radius.
func ring(cx, cy, r, width float64) shape {
	return minus(disc(cx, cy, r), disc(cx, cy, r-width))
}

// sector keeps what lies within the angles from..to, in parts of a full turn,
// clockwise from twelve o'clock.
func sector(s shape, cx, cy, from, to float64) shape {
	return func(x, y float64) bool {
		turn := math.Atan2(x-cx, cy-y) / (2 * math.Pi)
		if turn < 0 {
			turn++
		}
		return turn >= from && turn < to && s(x, y)
	}
}

// dashed keeps n dashes of a ring, each as long as share of its part.
func dashed(s shape, cx, cy float64, n int, share float64) shape {
	var dashes []shape
	for i := range n {
		from := float64(i) / float64(n)
		dashes = append(dashes, sector(s, cx, cy, from, from+share/float64(n)))
	}
	return union(dashes...)
}

// polygon is filled by the even-odd rule. Points are x, y pairs.
func polygon(p ...float64) shape {
	n := len(p) / 2
	return func(x, y float64) bool {
		in := false
		for i, j := 0, n-1; i < n; j, i = i, i+1 {
			xi, yi, xj, yj := p[2*i], p[2*i+1], p[2*j], p[2*j+1]
			if (yi > y) != (yj > y) && x < (xj-xi)*(y-yi)/(yj-yi)+xi {
				in = !in
			}
		}
		return in
	}
}

// stroke is the line through the points, with round ends and corners.
func stroke(width float64, p ...float64) shape {
	return func(x, y float64) bool {
		for i := 0; i+3 < len(p); i += 2 {
			if near(x, y, p[i], p[i+1], p[i+2], p[i+3]) <= sq(width/2) {
				return true
			}
		}
		return false
	}
}

// outline is the closed stroke around a polygon.
func outline(width float64, p ...float64) shape {
	return stroke(width, append(append([]float64{}, p...), p[0], p[1])...)
}

// near is the squared distance of a point to a segment.
func near(x, y, ax, ay, bx, by float64) float64 {
	t := ((x-ax)*(bx-ax) + (y-ay)*(by-ay)) / (sq(bx-ax) + sq(by-ay))
	t = min(max(t, 0), 1)
	return sq(x-ax-t*(bx-ax)) + sq(y-ay-t*(by-ay))
}

func union(s ...shape) shape {
	return func(x, y float64) bool {
		for _, f := range s {
			if f(x, y) {
				return true
			}
		}
		return false
	}
}

func minus(a, b shape) shape {
	return func(x, y float64) bool { return a(x, y) && !b(x, y) }
}

func sq(v float64) float64 { return v * v }

// render draws at size × size pixels, anti-aliased.
func render(size int, d drawing) *image.NRGBA {
	layers := d(size)
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for py := range size {
		for px := range size {
			img.SetNRGBA(px, py, pixel(size, px, py, layers))
		}
	}
	return img
}

// pixel averages the samples of one pixel, weighing colours by their opacity.
func pixel(size, px, py int, layers []layer) color.NRGBA {
	var r, g, b, a int
	for i := range samples * samples {
		x := grid * (float64(px) + (float64(i%samples)+.5)/samples) / float64(size)
		y := grid * (float64(py) + (float64(i/samples)+.5)/samples) / float64(size)
		var c color.NRGBA
		for _, l := range slices.Backward(layers) {
			if l.shape(x, y) {
				c = l.ink
				break
			}
		}
		r += int(c.R) * int(c.A)
		g += int(c.G) * int(c.A)
		b += int(c.B) * int(c.A)
		a += int(c.A)
	}
	if a == 0 {
		return color.NRGBA{}
	}
	return color.NRGBA{
		R: uint8((r + a/2) / a), G: uint8((g + a/2) / a), B: uint8((b + a/2) / a),
		A: uint8((a + samples*samples/2) / (samples * samples)),
	}
}
