//go:build unix

package cli

// wideConsole says that a terminal shows any character.
const wideConsole = false
