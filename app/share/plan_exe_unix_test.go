//go:build unix

package share

const exe = ""
