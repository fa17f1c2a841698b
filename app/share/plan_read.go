package share

import (
	"cmp"
	"slices"
	"strings"
)

// Reading is what a command tells by itself, before anything is looked at.
type Reading struct {
	Serena bool
	// Alone says why its server cannot be shared, as a part of a sentence; "" when
	// nothing in the command speaks against it.
	Alone string
	// Page is what the command says about Serena's own page: "true" when it is to
	// open, "false" when it is not or when there is none, "" for nothing.
	Page string
}

// ReadCommand reads a command as a client's lamplighter-connect would give it. It looks
// at no file.
func ReadCommand(goos string, command []string) Reading {
	_, args, why := split(goos, command)
	if why != "" {
		return Reading{Serena: why == fromTheDir, Alone: why, Page: page(args)}
	}
	r := Reading{Serena: true, Page: page(args)}
	parsed, why := parseArguments(args, "")
	r.Alone = cmp.Or(why, beginsWithTilde(parsed.project))
	return r
}

// page is the last word of each of the two options.
func page(args []string) string {
	says := map[string]string{}
	for i, word := range args {
		if word == "--" { // what follows is no option
			break
		}
		option, value, joined := strings.Cut(word, "=")
		if option != "--open-web-dashboard" && option != "--enable-web-dashboard" {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		says[option] = "true"
		if slices.Contains(falsehoods, strings.ToLower(value)) {
			says[option] = "false"
		}
	}
	if says["--enable-web-dashboard"] == "false" {
		return "false"
	}
	return says["--open-web-dashboard"]
}

// falsehoods are what click takes for false.
var falsehoods = []string{"false", "0", "no", "off", "f", "n"}
