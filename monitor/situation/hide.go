package situation

import (
	"regexp"
	"strings"

	"lamplighter/monitor/secret"
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
	headerFlag = regexp.MustCompile(`^(-H|--headers?)$`)
	headerLine = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*:[^/\\]`)
	// What a session is called may be one, and tells nothing of a server.
	session = regexp.MustCompile(`(?i)session`)
	// Of a variable any value may be a secret.
	variable = regexp.MustCompile(`(?s)^((?:-[\w-]*=)?(?:[A-Z][A-Z0-9_]*=|(?i:[^\s=:/]*session[^\s=:/]*[=:]))).+`)
	query    = regexp.MustCompile(`(://[^\s"'?#]*)[?#][^\s"']*`)
	// What somebody may have thought of as a password: long, with digits among letters of
	// both cases. Parts of paths are so too.
	long      = regexp.MustCompile(`[A-Za-z0-9_+-]{20,}`)
	twoDigits = regexp.MustCompile(`[0-9].*[0-9]`)
	twoUpper  = regexp.MustCompile(`[A-Z].*[A-Z]`)
	twoLower  = regexp.MustCompile(`[a-z-].*[a-z-]`)

	email   = regexp.MustCompile(`[\w.+-]+@[\w-]+(\.[\w-]+)*\.[A-Za-z]{2,}\b`)
	between = regexp.MustCompile(`[^/\\]+`) // the separators of a path
	homes   = regexp.MustCompile(`(?i)((?:^|[^\w])(?:/home/|/Users/|[A-Z]:[\\/]Users[\\/]))([^/\\"' ]+)`)
)

// arguments is a command line without what is private. Words are looked into for
// a program whose words matter, a launcher or a server; of others an argument
// with spaces may be what somebody wrote, so that nothing of it stays.
func (h *hide) arguments(args []string, words bool) []string {
	list := make([]string, 0, len(args))
	hidden := false // the option before says so of what follows
	for i, a := range args {
		if hidden && !strings.HasPrefix(a, "-") || i > 0 && !words && strings.ContainsAny(a, " \t\n") {
			list = append(list, removed)
		} else {
			list = append(list, h.words(a))
		}
		hidden = headerFlag.MatchString(a) || i > 0 && strings.HasPrefix(a, "-") && !strings.Contains(a, "=") && isSecretName(a)
	}
	return list
}

// words looks at each word of an argument, which may be the line that a shell runs.
func (h *hide) words(line string) string {
	if headerLine.MatchString(line) {
		return h.word(line)
	}
	parts := strings.Split(line, " ")
	value, header := false, false // the word before says so of what follows
	for i, part := range parts {
		bare := strings.Trim(part, `"'`)
		if bare == "" {
			continue
		}
		hidden := (value || header) && !strings.HasPrefix(bare, "-")
		if parts[i] = removed; !hidden {
			parts[i] = h.word(part)
		}
		header = header && hidden || headerFlag.MatchString(bare) // which may have several words
		named := strings.HasPrefix(bare, "-") && !strings.Contains(bare, "=") || strings.HasSuffix(bare, ":")
		value = named && isSecretName(strings.TrimSuffix(bare, ":")) || strings.EqualFold(bare, "bearer")
	}
	return strings.Join(parts, " ")
}

func isSecretName(name string) bool { return secret.Name(name) || session.MatchString(name) }

// word is a word of an argument, or a header.
func (h *hide) word(w string) string {
	w = strings.ReplaceAll(secret.Text(w), secret.Hidden, removed)
	w = variable.ReplaceAllString(query.ReplaceAllString(w, "$1?"+removed), "${1}"+removed)
	if !strings.ContainsAny(w, `/\`) || strings.Contains(w, "://") {
		w = long.ReplaceAllStringFunc(w, withoutPassword)
	}
	return email.ReplaceAllStringFunc(h.path(w), func(found string) string {
		if name, _, _ := strings.Cut(found, "@"); name == "git" || name == removed {
			return found // git is how everybody is called there
		}
		return removed
	})
}

func withoutPassword(w string) string {
	if !strings.HasPrefix(w, "-") && twoDigits.MatchString(w) && twoUpper.MatchString(w) && twoLower.MatchString(w) {
		return removed
	}
	return w
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
