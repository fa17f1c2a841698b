package config

import (
	"fmt"
	"slices"
	"strings"
)

// setWord sets a setting that is one of a few words.
func setWord[T ~string](into *T, text []byte, words ...T) error {
	if v := T(text); slices.Contains(words, v) {
		*into = v
		return nil
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return fmt.Errorf("%s is not one of %s", excerpt(string(text)), strings.Join(list, ", "))
}
