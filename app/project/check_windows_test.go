package project

import "testing"

const longPaths = false

var strange = []string{"with two  spaces", " lead", "qu'ote", "ünï 街の灯り 🏮", "-rf", "--project", "$HOME `id` $(id)", "{port}", "a;b&c", "%41", "~"}

// badPaths are those that only Windows has.
func badPaths(*testing.T, string) []string { return []string{`\plain`, `C:plain`, `NUL`, `\\.\NUL`} }
