package setup

import (
	"slices"
	"strings"

	"lamplighter/app/share"
)

// The option that keeps Serena's own page closed.
const (
	subcommand = "start-mcp-server"
	pageOption = "--open-web-dashboard"
	pageOff    = "false"
)

// closePage has a Serena not open its own page. A command that says so already,
// or that is no Serena, is given back as it is.
func closePage(goos string, words []string) []string {
	if r := share.ReadCommand(goos, words); !r.Serena || r.Page == pageOff {
		return words
	}
	begin := slices.Index(words, subcommand) + 1
	end := len(words)
	// Behind -- there are no options.
	if i := slices.Index(words[begin:], "--"); i >= 0 {
		end = begin + i
	}
	said := false
	closed := slices.Clone(words[:begin])
	for i := begin; i < end; i++ {
		option, _, joined := strings.Cut(words[i], "=")
		switch {
		case option != pageOption:
			closed = append(closed, words[i])
			continue
		case joined:
			closed = append(closed, pageOption+"="+pageOff)
		default:
			closed = append(closed, pageOption, pageOff)
			if i+1 < end && !strings.HasPrefix(words[i+1], "--") {
				i++ // its value
			}
		}
		said = true
	}
	if !said {
		closed = append(closed, pageOption, pageOff)
	}
	return append(closed, words[end:]...)
}

// reopenPage takes out of a command what closePage has put into it, where before
// is the command that it was then.
func reopenPage(goos string, words, before []string) []string {
	if share.ReadCommand(goos, before).Page != "" || slices.ContainsFunc(before, isPageOption) {
		return words
	}
	for i := 1; i+1 < len(words); i++ {
		if words[i] == pageOption && words[i+1] == pageOff {
			return slices.Concat(words[:i], words[i+2:])
		}
	}
	return words
}

func isPageOption(word string) bool {
	option, _, _ := strings.Cut(word, "=")
	return option == pageOption
}
