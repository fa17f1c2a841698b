package installer

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Names of the units.
const (
	serviceName = "lamplighter.service"
	socketName  = "lamplighter.socket"
)

// The targets that start the service: the desktop's, and the manager's own one
// where there is no desktop.
const (
	desktopTarget  = "graphical-session.target"
	headlessTarget = "default.target"
)

// throughShell runs its arguments as a command. systemd takes no program whose
// path has quotes or backslashes in it, and desktops none with an equals or a
// percent sign, but both take them as arguments.
const throughShell = `exec "$0" "$@"`

// ServiceUnit is the text of the user unit that starts program, an absolute path
// or a bare name: with the desktop, or headless with the user's manager. A path
// that no unit can name, such as one with a line break, is an error.
//
// Source: systemd.unit(5), systemd.service(5), systemd.kill(5).
func ServiceUnit(program string, headless bool) (string, error) {
	if err := nameable(program); err != nil {
		return "", err
	}
	target, after, partOf := desktopTarget, desktopTarget+" ", "PartOf="+desktopTarget+"\n"
	if headless {
		target, after, partOf = headlessTarget, "", ""
	}
	// A client that starts just after a crash waits two seconds, so the next one
	// comes sooner. A crash loop hits the start limit, and somebody who installs,
	// quits and starts by hand does not.
	return "[Unit]\nDescription=Lamplighter, shows and shares MCP servers\nDocumentation=man:lamplighter(1)\n" + partOf +
		"Wants=" + socketName + "\nAfter=" + after + socketName + "\nStartLimitIntervalSec=60\nStartLimitBurst=10\n" +
		"\n[Service]\nExecStart=" + unitCommand(program) + " run --at-login\n" +
		"Restart=on-failure\nRestartSec=500ms\nRestartPreventExitStatus=2\nKillMode=process\n" +
		"\n[Install]\nWantedBy=" + target + "\nAlso=" + socketName + "\n", nil
}

// SocketUnit is the text of the unit that listens for clients until the service
// does, which it starts for the first of them.
//
// Source: systemd.socket(5).
func SocketUnit() string {
	return "[Unit]\nDescription=Lamplighter, socket for MCP clients\nDocumentation=man:lamplighter(1)\n" +
		"\n[Socket]\nListenStream=%t/lamplighter/share.sock\nFileDescriptorName=share\nSocketMode=0600\nDirectoryMode=0700\n" +
		"\n[Install]\nWantedBy=sockets.target\n"
}

// nameable reports whether the files of all systems that start programs at login
// can name this one.
func nameable(program string) error {
	refused := func(why string) error {
		return fmt.Errorf("%q cannot be started at login: %s. Install it elsewhere", program, why)
	}
	switch {
	case program == "":
		return refused("it has no path")
	case !utf8.ValidString(program):
		return refused("its path is no valid UTF-8")
	case strings.ContainsFunc(program, unwritable):
		return refused("its path has a line break or another character in it that no such file may hold")
	case !strings.HasPrefix(program, "/") && !bareName.MatchString(program):
		return refused("its path is not absolute")
	}
	return nil
}

// bareName is the name of a program that is looked for.
var bareName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// unwritable tells control characters, and what Unicode calls noncharacters:
// systemd takes no line with one, and XML has none.
func unwritable(r rune) bool {
	return r < ' ' || r == 0x7f || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef
}

// unitCommand is the start of a command line that runs program, with the
// variables left alone where it has a dollar sign.
//
// Source: systemd.service(5), "Command lines". That no program's path may hold
// quotes and backslashes is in config_parse_exec of systemd.
func unitCommand(program string) string {
	switch {
	case strings.ContainsAny(program, `"'\`):
		return `:/bin/sh -c '` + throughShell + `' ` + quoteUnit(program)
	case strings.Contains(program, "$"):
		return ":" + quoteUnit(program)
	}
	return quoteUnit(program)
}

func quoteUnit(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

// setting is one line KEY=VALUE of a unit.
type setting struct{ section, key, value string }

// parseUnit reads the lines of a unit. What is no line of one is left out, as
// systemd does.
//
// Source: systemd.syntax(7).
func parseUnit(text string) []setting {
	var list []setting
	section, pending := "", ""
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		if trimmed := strings.TrimSpace(line); trimmed == "" && pending == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";") {
			continue // comments may stand between the lines of one setting
		}
		if rest, more := strings.CutSuffix(line, `\`); more {
			pending += rest + " "
			continue
		}
		line, pending = strings.TrimSpace(pending+line), ""
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = line[1 : len(line)-1]
			continue
		}
		if key, value, found := strings.Cut(line, "="); found {
			list = append(list, setting{section, strings.TrimSpace(key), strings.TrimSpace(value)})
		}
	}
	return list
}

// unitProgram is the program that a command line of a unit runs, "" when that
// cannot be told. home stands for %h.
func unitProgram(line, home string) string {
	words, ok := splitUnit(line)
	if !ok || len(words) == 0 {
		return ""
	}
	words[0] = strings.TrimLeft(words[0], "-@:+!|")
	for i, word := range words {
		words[i] = strings.NewReplacer("%%", "%", "%h", home).Replace(word)
	}
	return programOf(words)
}

// programOf is the program of a command: what is run through the shell by
// throughShell, else a lamplighter that another program runs, else the first word.
func programOf(words []string) string {
	switch {
	case len(words) == 0:
		return ""
	case len(words) > 3 && path.Base(words[0]) == "sh" && words[1] == "-c" && words[2] == throughShell:
		return words[3]
	}
	for _, word := range words {
		if base := path.Base(word); base == "lamplighter" || base == "lamplighter-tray" {
			return word
		}
	}
	return words[0]
}

// splitUnit parts a command line into its words; ok is false where systemd would
// not take it.
//
// Source: systemd.syntax(7), "Quoting".
func splitUnit(line string) (words []string, ok bool) {
	var word strings.Builder
	inside, quote := false, byte(0)
	for len(line) > 0 {
		c := line[0]
		switch {
		case c == '\\':
			text, rest, fine := unescapeUnit(line[1:])
			if !fine {
				return nil, false
			}
			word.WriteString(text)
			inside, line = true, rest
			continue
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inside = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if inside {
				words = append(words, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteByte(c)
			inside = true
		}
		line = line[1:]
	}
	if inside {
		words = append(words, word.String())
	}
	return words, quote == 0
}

// unescapeUnit reads what follows a backslash.
func unescapeUnit(text string) (string, string, bool) {
	if text == "" {
		return "", "", false
	}
	if i := strings.IndexByte(`abfnrtv\"'s`, text[0]); i >= 0 {
		return "\a\b\f\n\r\t\v\\\"' "[i : i+1], text[1:], true
	}
	digits, base, skip := 3, 8, 0
	switch text[0] {
	case 'x':
		digits, base, skip = 2, 16, 1
	case 'u':
		digits, base, skip = 4, 16, 1
	case 'U':
		digits, base, skip = 8, 16, 1
	}
	if len(text) < skip+digits {
		return "", "", false
	}
	number, err := strconv.ParseUint(text[skip:skip+digits], base, 32)
	if err != nil || number == 0 {
		return "", "", false
	}
	rest := text[skip+digits:]
	if digits > 3 { // a character and no byte
		return string(rune(number)), rest, utf8.ValidRune(rune(number))
	}
	return string([]byte{byte(number)}), rest, number < 256
}
