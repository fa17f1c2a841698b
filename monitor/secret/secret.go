// Package secret leaves out of commands and settings what looks like a secret, so
// that the rest can be shown to people. It goes by the names in front of values
// and by their looks, and rather leaves out too much than too little. What other
// characters are in a text is not its concern: see monitor.Clean.
package secret

import (
	"regexp"
	"strings"
	"unicode"
)

// Hidden stands in the place of a secret.
const Hidden = "…"

// What names of secrets are made of: words are anywhere in them, short ones are
// whole parts, as in db_pass and dbPass. "path" and "spin" are none.
const (
	words = `[\w.-]*(?:key|token|secret|passw|passphrase|pwd|auth|credential|cookie|bearer|connection[_-]?string)[\w.-]*`
	short = `\b(?:[\w.-]*[_.-])?(?:pass|pin|pat|psk|otp|sig|signature|sid|dsn)(?:[_.-][\w.-]*)?`
	camel = `(?-i:\w*[a-z](?:Pass|Pin|Pat|Sig|Dsn))`
	name  = `(?:` + words + `|` + short + `|` + camel + `)`
)

var (
	inName = regexp.MustCompile(`(?i)(?:` + words + `|(?:` + short + `|` + camel + `)$)`)
	// A name of a secret with what stands between it and the value, the word that
	// says what the value is, or an option in the line of a shell.
	beforeValue = regexp.MustCompile(`(?i)` + name + `(?:\\?["']?\s*[=:]|\\?["']\s*,)\s*|\b(?:bearer|basic)\s+|(?:^|[\s"'(])(?:--?|/)` + name + `\s+`)
	// A password may have any character, and is not always escaped.
	userInfo = regexp.MustCompile(`://(?:[^/\s@:]*:\S*|[^/\s@]+)@`)
	// How keys of well-known services begin.
	knownKey = regexp.MustCompile(`\b(?:[aprs]k[-_]|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|npm_|hf_|pypi-|dckr_pat_|shpat_|figd_|lin_api_|ntn_|sntrys_|ctx7sk-|ya29\.|AKIA|ASIA|AIza)[A-Za-z0-9_-]{8,}|\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*`)

	// Options that are no value of the option before them.
	isOption = regexp.MustCompile(`^(?:--|-[A-Za-z]|--[a-z][a-z0-9-]*(?:=.*)?)$`)
	// Options that have no value.
	isSwitch = regexp.MustCompile(`^--?(?:no|disable|skip|without)-`)

	// Options of one letter, and those of them that stand for a password, a key and
	// a token often enough.
	shortOption = regexp.MustCompile(`^-[A-Za-z]$`)
	mayBeSecret = regexp.MustCompile(`^-[pkt]$`)
	// What they stand for otherwise: a port, a version, a package, an address, a
	// directory that a variable names, and a transport.
	noSecret = regexp.MustCompile(`^(?:\d+(?:[.:]\d+)+|@.*|.*://.*|\.|\.\.|\$\w+|\$\{[^}]*\}|%\w+%|stdio|sse|http|streamable-http|tcp|udp)$`)

	field = regexp.MustCompile(`\S+`)
	// What may stand in front of a path in a word: --project=, NAME= and quotation
	// marks.
	beforePath = regexp.MustCompile(`^["'(]*(?:[\w.-]+=)?["']?`)
	// How a path begins. Base64 has slashes, too, but seldom there.
	pathStart = regexp.MustCompile(`^(?:/[^/*]|\\|~|\.\.?[/\\]|[A-Za-z]:[/\\]|\$\w+[/\\]|\$\{[^}]*\}[/\\]|%\w+%[/\\]|file:///)`)
	// What may be a secret by its looks alone, in an address and elsewhere.
	longPart = regexp.MustCompile(`[A-Za-z0-9_+-]{16,}={0,2}`)
	longRun  = regexp.MustCompile(`[A-Za-z0-9_+/-]{16,}={0,2}`)
	// Letters and digits may take turns seldom in these. A line of hyphens is none.
	hexadecimal = regexp.MustCompile(`^(?:[A-Fa-f-]*[0-9]){4}[0-9A-Fa-f-]*$`)
)

// Name reports whether the value of an option, a variable, a header or a member of
// that name is a secret.
func Name(name string) bool { return inName.MatchString(name) }

// Words are the words of a command, the program first, as they may be shown.
func Words(command []string) []string {
	shown := make([]string, len(command))
	for i, word := range command {
		before := ""
		if i > 1 {
			before = command[i-1]
		}
		shown[i] = Behind(before, word)
	}
	return shown
}

// Behind is a word as it may be shown. before is the one before it in the same
// command, "" for none and for the program.
func Behind(before, word string) string {
	if isValue(before, word) {
		return Hidden
	}
	return Text(word)
}

// isValue reports whether a word is the value of the option before it, and secret.
func isValue(before, word string) bool {
	switch {
	case word == "" || isOption.MatchString(word):
		return false
	case mayBeSecret.MatchString(before):
		return !noSecret.MatchString(word) && !pathStart.MatchString(word)
	case shortOption.MatchString(before):
		return !pathStart.MatchString(word) && !strings.ContainsAny(word, "/=") && randomFrom(word, 8, 3)
	case strings.HasPrefix(before, "-"), strings.LastIndexByte(before, '/') == 0:
		return !strings.Contains(before, "=") && Name(before) && !isSwitch.MatchString(before)
	}
	return false
}

// Text is a word by itself, an address or a line as it may be shown.
func Text(text string) string {
	if len(text) < 8 && !strings.ContainsAny(text, "=:@ ") {
		return text // most words of large settings are short
	}
	text = userInfo.ReplaceAllString(text, "://"+Hidden+"@")
	text = withoutValues(text)
	text = knownKey.ReplaceAllString(text, Hidden)
	return wordByWord(text)
}

// quotes are those of a shell, and what else may stand around a word in a line.
const quotes = "\"'`()\\"

// wordByWord looks at the words of a line, which may be one for a shell, as at
// those of a command. A value in quotation marks ends with them.
func wordByWord(line string) string {
	var b strings.Builder
	before, at := "", 0
	for place := field.FindStringIndex(line); place != nil; place = field.FindStringIndex(line[at:]) {
		start, end := at+place[0], at+place[1]
		b.WriteString(line[at:start])
		word := line[start:end]
		bare := strings.Trim(word, quotes)
		if isValue(before, bare) {
			if opened := strings.TrimLeft(word, `\`); strings.ContainsRune("\"'", rune(opened[0])) {
				from := end - len(opened) + 1
				if n := strings.IndexByte(line[from:], opened[0]); n < 0 {
					end = len(line)
				} else if from+n+1 > end {
					end = from + n + 1
				}
			}
			word = Hidden
		} else {
			word = withoutRandom(word)
		}
		b.WriteString(word)
		before, at = bare, end
	}
	return b.String() + line[at:]
}

// withoutValues leaves out the values of names. Where one ends is only known in
// the query of an address; elsewhere all that follows is left out.
func withoutValues(text string) string {
	for from := 0; ; {
		at := beforeValue.FindStringIndex(text[from:])
		if at == nil {
			return text
		}
		start, end := from+at[0], from+at[1]
		from = end
		if start > 1 && strings.ContainsRune("/@", rune(text[start-1])) && !unicode.IsSpace(rune(text[start-2])) && text[end-1] != '=' {
			continue // of a host or an image, with its port or tag
		}
		rest := text[end:]
		if rest == "" {
			return text
		}
		next := -1
		if address := strings.Index(text[:start], "://"); address >= 0 && strings.Contains(text[address:start], "?") && len(strings.Fields(text)) == 1 {
			next = strings.IndexByte(rest, '&')
		}
		if next < 0 {
			return text[:end] + Hidden
		}
		text = text[:end] + Hidden + rest[next:]
		from = end + len(Hidden)
	}
}

// withoutRandom leaves out of a word what nobody would think of.
func withoutRandom(word string) string {
	path := word[len(beforePath.FindString(word)):]
	if pathStart.MatchString(path) && !strings.ContainsAny(path, "=?&") {
		return word // parts of paths look random often enough, and are no secrets
	}
	hide := func(part string) string {
		if random(part) {
			return Hidden
		}
		return part
	}
	if !strings.Contains(word, "://") {
		word = longRun.ReplaceAllStringFunc(word, hide)
	}
	return longPart.ReplaceAllStringFunc(word, hide)
}

// random reports whether a word is one that nobody would think of, by itself.
func random(word string) bool {
	return randomFrom(word, 16, 5) || len(word) >= 20 && hexadecimal.MatchString(word)
}

// randomFrom reports whether the kind of a word's characters changes all the time:
// it has as many as least, and there is a change for each few of them.
func randomFrom(word string, least, few int) bool {
	const none, lower, upper, digit = 0, 1, 2, 3
	last, changes, count := none, 0, 0
	for _, r := range word {
		kind := none
		switch {
		case unicode.IsDigit(r):
			kind = digit
		case unicode.IsUpper(r):
			kind = upper
		case unicode.IsLower(r):
			kind = lower
		}
		if kind != none {
			count++
		}
		// A capital begins a word, so that it and what follows are one kind.
		if kind != last && kind != none && last != none && !(last == upper && kind == lower) {
			changes++
		}
		last = kind
	}
	return count >= least && changes*few >= count
}

// What may be shown of arguments: a verb in front of all options, a port, and what these
// options are followed by.
var (
	verb    = regexp.MustCompile(`^[a-z][a-z-]{0,30}$`)
	number  = regexp.MustCompile(`^\d{1,5}$`)
	telling = regexp.MustCompile(`^--(?:context|mode|transport|agent-interface|project|host|port)$`)
)

// Arguments are the arguments of a process as they may be shown to whoever looks on: its
// verbs, its options by their names, and of what follows those paths and ports alone.
func Arguments(args []string) []string {
	var shown []string
	before, options := "", false
	for _, word := range args {
		name, value, given := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "--") && given:
			shown = append(shown, name+"="+harmless(name, value))
		case strings.HasPrefix(word, "--") && !strings.HasPrefix(before, "--"), len(word) == 2 && word[0] == '-':
			shown = append(shown, word)
		case strings.HasPrefix(word, "--") && isOption.MatchString(word) && !Name(before):
			shown = append(shown, word)
		case !options && verb.MatchString(word):
			shown = append(shown, word)
		default:
			shown = append(shown, harmless(before, word))
		}
		before, options = word, options || strings.HasPrefix(word, "-")
	}
	return shown
}

// harmless is what follows an option, if it may be shown.
func harmless(option, value string) string {
	if number.MatchString(value) && !Name(option) || pathStart.MatchString(value) && !strings.ContainsAny(value, "@=?&:") || telling.MatchString(option) && verb.MatchString(value) {
		return value
	}
	return Hidden
}
