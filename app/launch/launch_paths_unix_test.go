//go:build unix

package launch

const absolutePath = "/tmp"
