//go:build unix

package config

// pipeName is empty: the control socket is a file here.
func pipeName() string { return "" }
