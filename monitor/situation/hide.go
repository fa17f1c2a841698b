package situation

import (
	"net/url"
	"regexp"
	"strings"
)

// removed stands where something was that nobody else has to know.
const removed = "REMOVED"

// hide takes out of command lines and paths what is private: secrets, the home
// directory, the names of users. What tells a server from other programs stays.
// It errs on the side of removing.
type hide struct {
	home string // "" when it is not known
	user string // likewise
}

var (
	secretName = regexp.MustCompile(`(?i)token|secret|passw|passphrase|\bpwd\b|api[-_]?key|apikey|access[-_]?key|private[-_]?key|[-_]key$|^-*key$|auth|credential|bearer|cookie|signature|\bsid\b|session|\bdsn\b|connection[-_]?string`)
	envName    = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	headerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)
	headerFlag = regexp.MustCompile(`^(-H|--headers?)$`)
	// What issuers of keys put before them.
	issued = regexp.MustCompile(`(?i)^(sk|pk|rk|ak)[-_][a-z0-9_-]{12,}|^gh[pousr]_\w{16,}|^github_pat_\w{16,}|^glpat-|^xox[abeprs]-|^(AKIA|ASIA)[A-Z0-9]{12,}|^AIza[\w-]{20,}|^eyJ[\w-]{8,}|^(npm|hf|dckr_pat|shpat|figd|lin_api|ntn|sntrys|secret|ctx7sk)_?[\w-]{16,}|^ya29\.`)
	random = regexp.MustCompile(`^[A-Za-z0-9_+=-]{20,}$`)
	// Of what such words have some or nothing.
	hexadecimal = regexp.MustCompile(`^[^G-Zg-z]*$`)
	fourDigits  = regexp.MustCompile(`(?:[0-9].*){4}`)
	twoDigits   = regexp.MustCompile(`[0-9].*[0-9]`)
	twoUpper    = regexp.MustCompile(`[A-Z].*[A-Z]`)
	twoLower    = regexp.MustCompile(`[a-z-].*[a-z-]`)

	email   = regexp.MustCompile(`[\w.+-]+@[\w-]+(\.[\w-]+)*\.[A-Za-z]{2,}\b`)
	between = regexp.MustCompile(`[^/\\]+`) // the separators of a path
	homes   = regexp.MustCompile(`(?i)((?:^|[^\w])(?:/home/|/Users/|[A-Z]:[\\/]Users[\\/]))([^/\\"' ]+)`)
)

// arguments is a command line without what is private. Words are looked into for
// a program whose words matter, a launcher or a server; of others an argument
// with spaces may be what somebody wrote, so that nothing of it stays.
func (h *hide) arguments(args []string, words bool) []string {
	list := make([]string, 0, len(args))
	secret, header := false, false // the option before says so of what follows
	for i, a := range args {
		switch {
		case secret && !strings.HasPrefix(a, "-"):
			list = append(list, removed)
		case header:
			list = append(list, h.header(a, true))
		case i > 0 && !words && strings.ContainsAny(a, " \t\n"):
			list = append(list, removed)
		case strings.ContainsAny(a, " \t\n"):
			list = append(list, h.words(a))
		default:
			list = append(list, h.word(a))
		}
		secret = i > 0 && strings.HasPrefix(a, "-") && !strings.Contains(a, "=") && secretName.MatchString(a)
		header = headerFlag.MatchString(a)
	}
	return list
}

// words looks at each word of a line, such as the one that a shell runs.
func (h *hide) words(line string) string {
	if h.header(line, false) != line {
		return h.header(line, false)
	}
	parts := strings.Split(line, " ")
	secret, header := false, false
	for i, part := range parts {
		bare := strings.Trim(part, `"'`)
		switch {
		case bare == "":
			continue
		case secret && !strings.HasPrefix(bare, "-"):
			parts[i] = removed
		case header && !strings.HasPrefix(bare, "-"):
			parts[i] = removed
			continue // a header may have several words
		default:
			parts[i] = h.word(part)
		}
		secret = (strings.HasPrefix(bare, "-") || strings.HasSuffix(bare, ":")) && !strings.Contains(bare, "=") && secretName.MatchString(strings.TrimSuffix(bare, ":")) ||
			strings.EqualFold(bare, "bearer")
		header = headerFlag.MatchString(bare)
	}
	return strings.Join(parts, " ")
}

// header is one of HTTP, "Name: value"; its value goes if its name says so, or
// in any case.
func (h *hide) header(text string, always bool) string {
	name, value, found := strings.Cut(text, ":")
	if found && !strings.HasPrefix(value, "/") && headerName.MatchString(name) && (always || secretName.MatchString(name)) {
		return name + ": " + removed
	}
	if always {
		return removed
	}
	return text
}

// word is one argument without spaces.
func (h *hide) word(w string) string {
	name, value, assigned := strings.Cut(w, "=")
	switch {
	case assigned && value != "" && (secretName.MatchString(name) || envName.MatchString(name)):
		return name + "=" + removed
	case assigned && strings.HasPrefix(name, "-"):
		return name + "=" + h.word(value)
	case h.header(w, false) != w:
		return h.header(w, false)
	case issued.MatchString(strings.Trim(w, `"'`)), looksRandom(strings.Trim(w, `"'`)):
		return removed
	case strings.Contains(w, "://"):
		return h.address(w)
	}
	return email.ReplaceAllStringFunc(h.path(w), func(found string) string {
		if strings.HasPrefix(found, "git@") {
			return found // how everybody is called there
		}
		return removed
	})
}

// looksRandom tells a word that nobody would write: long, with digits among
// letters and, unless it is hexadecimal, letters of both cases.
func looksRandom(w string) bool {
	if !random.MatchString(w) || strings.HasPrefix(w, "-") {
		return false
	}
	return hexadecimal.MatchString(w) && fourDigits.MatchString(w) || twoDigits.MatchString(w) && twoUpper.MatchString(w) && twoLower.MatchString(w)
}

// address is one with neither credentials nor a query.
func (h *hide) address(w string) string {
	before, rest, _ := strings.Cut(w, "://")
	start := strings.LastIndexAny(before, `"'=`) + 1
	lead, scheme := before[:start], before[start:]
	if u, err := url.Parse(scheme + "://" + strings.TrimRight(rest, `"'`)); err != nil || u.Host == "" && u.Scheme != "file" {
		return lead + scheme + "://" + removed
	}
	rest, _, query := strings.Cut(rest, "?")
	rest, _, fragment := strings.Cut(rest, "#")
	host, path, slash := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = removed + host[at:]
	}
	if slash {
		parts := strings.Split(path, "/")
		for i, part := range parts {
			if issued.MatchString(part) || looksRandom(part) {
				parts[i] = removed
			}
		}
		host += h.path("/" + strings.Join(parts, "/"))
	}
	if query || fragment {
		host += "?" + removed
	}
	return lead + scheme + "://" + host
}

// path is a word with the home directory as ~ and no user's name.
func (h *hide) path(w string) string {
	if h.home != "" && h.home != "/" {
		parts := strings.Split(w, h.home)
		w = parts[0]
		for _, after := range parts[1:] {
			if after == "" || strings.IndexAny(after, `/\:"'`) == 0 {
				w += "~" + after
			} else { // another directory that begins alike
				w += h.home + after
			}
		}
	}
	w = homes.ReplaceAllString(w, "${1}user")
	if h.user == "" || !strings.ContainsAny(w, `/\`) {
		return w
	}
	return between.ReplaceAllStringFunc(w, func(part string) string {
		if part == h.user {
			return "user"
		}
		return part
	})
}

var container = regexp.MustCompile(`[0-9a-f]{64}`)

// service is the name of what manages a process without the id of a container.
func (h *hide) service(name string) string {
	return container.ReplaceAllString(h.path(name), removed)
}
