package setup

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"lamplighter/monitor"
)

// hidden stands in the place of what looks like a secret.
const hidden = "…"

// mostShown bounds, in columns, what is shown of a command.
const mostShown = 1000

// secretName is how the names of options, variables and headers begin, end or go
// on whose values are not shown. It takes too many rather than too few.
const secretName = `[\w.-]*(?:key|token|secret|passw|pwd|passphrase|auth|credential|cookie|bearer)[\w.-]*`

var (
	secretOption = regexp.MustCompile(`(?i)^--?` + secretName + `$`)
	secretHeader = regexp.MustCompile(`(?i)^(` + secretName + `\s*:\s*).*$`)
	secretValue  = regexp.MustCompile(`(?i)(` + secretName + `\s*=\s*)("[^"]*"|'[^']*'|[^\s&;|]+)`)
	secretWord   = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[^\s"']+`)
	userInfo     = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/@\s]+@`)
	// How keys of well-known services begin.
	knownKey = regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abeprs]|npm|hf|pypi|AKIA|ASIA|AIza|eyJ)[-_]?[A-Za-z0-9_-]{12,}`)
	// What may be a secret by its looks alone.
	longWord = regexp.MustCompile(`[A-Za-z0-9_+-]{20,}={0,2}`)
)

// showCommand writes a command for people, without what looks like a secret.
func showCommand(words []string) string {
	shown := make([]string, len(words))
	follows := false // the value of an option with a secret
	for i, word := range words {
		if follows && !strings.HasPrefix(word, "-") && i > 0 {
			shown[i] = hidden
			follows = false
			continue
		}
		follows = i > 0 && secretOption.MatchString(word)
		shown[i] = showWord(word)
	}
	return monitor.Shorten(monitor.Quoted(shown), mostShown)
}

// showAddress writes the address of a server for people.
func showAddress(address string) string {
	return monitor.Shorten(monitor.Clean(showWord(address)), mostShown)
}

func showWord(word string) string {
	word = userInfo.ReplaceAllString(word, "${1}"+hidden+"@")
	word = secretHeader.ReplaceAllString(word, "${1}"+hidden)
	word = secretWord.ReplaceAllString(word, "${1} "+hidden)
	word = secretValue.ReplaceAllString(word, "${1}"+hidden)
	word = knownKey.ReplaceAllString(word, hidden)
	if isPath(word) {
		return word
	}
	return longWord.ReplaceAllStringFunc(word, func(part string) string {
		if looksRandom(part) {
			return hidden
		}
		return part
	})
}

// isPath tells whether a word is nothing but a path. Parts of paths look random
// often enough, and are no secrets.
func isPath(word string) bool {
	if u, err := url.Parse(word); err == nil && len(u.Scheme) > 1 {
		return false
	}
	return strings.ContainsAny(word, `/\`) && !strings.ContainsAny(word, "=?&")
}

// looksRandom tells whether a long word is of the kind that machines make up: it
// has digits, and letters of both cases, or so many digits that it is no name.
func looksRandom(word string) bool {
	digits, upper, lower := 0, 0, 0
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		}
	}
	return digits > 0 && upper > 0 && lower > 0 || digits*5 >= len(word) && upper+lower > 0
}
