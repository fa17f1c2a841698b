package launch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// CompareVersions orders versions by their numbers: 1.10.0 after 1.9.0, and
// "2.1.0-1a2b3c4d-dirty" is 2.1.0.
func CompareVersions(a, b string) int {
	x, y := numbersOf(a), numbersOf(b)
	for len(x) < len(y) {
		x = append(x, 0)
	}
	for len(y) < len(x) {
		y = append(y, 0)
	}
	return cmp.Or(slices.Compare(x, y), cmp.Compare(a, b)*same(a, b))
}

// same is 1 where the texts of two equal versions still have an order, so that
// listings are stable; a version equals its own number.
func same(a, b string) int {
	if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
		return 0
	}
	return 1
}

// numbersOf are the numbers that a version begins with.
func numbersOf(version string) []int {
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		digits := part
		if i := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
			digits = part[:i]
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		list = append(list, n)
		if digits != part {
			break
		}
	}
	return list
}

// older reports whether a version, "1.7.0", is below another one. One that cannot
// be read counts as new.
func older(version, than string) bool {
	return Readable(version) && CompareVersions(version, than) < 0
}

// Readable reports whether a text is a version.
func Readable(version string) bool { return len(numbersOf(version)) > 0 }
