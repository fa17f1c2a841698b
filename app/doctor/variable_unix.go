//go:build unix

package doctor

func sameVariable(a, b string) bool { return a == b }
