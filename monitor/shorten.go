package monitor

import (
	"strings"

	"github.com/rivo/uniseg"
)

// maxRunes is what one character keeps of the runes it is made of. Real scripts
// need fewer; a pile of combining marks would paint over the lines around it.
const maxRunes = 8

// Shorten cuts s to at most columns by leaving out the middle, because names
// differ at their ends. What people see as one character is never split.
func Shorten(s string, columns int) string { return cut(s, columns, columns/2) }

// CutEnd cuts s to at most columns by leaving out its end, because a sentence
// says what matters first.
func CutEnd(s string, columns int) string { return cut(s, columns, columns-1) }

// cut keeps at most so many columns of the beginning, and of the end what else has
// room; one column is for an ellipsis.
func cut(s string, columns, beginning int) string {
	if len(s) <= columns && plain(s) { // as nearly all are
		return s
	}
	var all []string
	var widths []int
	total := 0
	for state := -1; len(s) > 0; {
		var cluster string
		var width int
		cluster, s, width, state = uniseg.FirstGraphemeClusterInString(s, state)
		runes := []rune(cluster)
		all, widths = append(all, string(runes[:min(len(runes), maxRunes)])), append(widths, width)
		total += width
	}
	if total <= columns {
		return strings.Join(all, "")
	}
	if columns < 1 {
		return ""
	}
	left, right, used := 0, len(all), 0
	for left < right && used+widths[left] <= beginning {
		used += widths[left]
		left++
	}
	for right > left && beginning < columns-1 && used+widths[right-1] <= columns-1 {
		right--
		used += widths[right]
	}
	return strings.TrimRight(strings.Join(all[:left], ""), " ,") + "…" + strings.TrimLeft(strings.Join(all[right:], ""), " ")
}

// Columns is the width of s as fixed-width text counts it, which is a fair
// measure of proportional text too.
func Columns(s string) int {
	if plain(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}
