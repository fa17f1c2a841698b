//go:build unix

package cli

// newAlert is nil: whoever has no terminal has at least standard error.
func newAlert() func(text string) { return nil }
