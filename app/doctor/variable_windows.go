package doctor

import "strings"

// sameVariable: names of variables have no case here.
func sameVariable(a, b string) bool { return strings.EqualFold(a, b) }
