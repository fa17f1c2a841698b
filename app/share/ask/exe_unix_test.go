//go:build unix

package ask

const exe = ""
