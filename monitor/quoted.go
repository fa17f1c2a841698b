package monitor

import (
	"slices"
	"strings"
)

// Quoted writes a command so that a person can copy it.
func Quoted(command []string) string {
	words := slices.Clone(command)
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"$&|;<>()*?`") {
			words[i] = `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
		}
	}
	return Clean(strings.Join(words, " "))
}
