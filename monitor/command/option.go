package command

import (
	"slices"
	"strings"
)

// Option is an option with its value, "" where that is missing; or with no name, a word
// that belongs to none.
type Option struct{ Name, Value string }

// Options reads words as most programs read theirs: a value stands behind its option, or
// is joined to it by "=", and "--" ends the options. All take a value but flags. The next
// word is none when it begins with "--", which nobody means.
func Options(words []string, flags ...string) (list []Option) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			for _, value := range words[i+1:] {
				list = append(list, Option{Value: value})
			}
			break
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			list = append(list, Option{Value: word})
			continue
		}
		name, value, joined := strings.Cut(word, "=")
		if !joined && !slices.Contains(flags, name) && i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			i++
			value = words[i]
		}
		list = append(list, Option{name, value})
	}
	return list
}
