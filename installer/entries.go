package installer

import (
	"slices"
	"strings"
)

// entryName is the file name of the menu entry and of the autostart entry.
const entryName = "lamplighter.desktop"

// writtenKey marks an autostart entry as ours also after the settings of a
// desktop have written it anew, which drops comments.
const writtenKey = "X-Lamplighter-Login"

// MenuEntry is the text of the entry in the menu of the desktop, which starts
// program: an absolute path, or the name of one that is on the PATH.
//
// Source: Desktop Entry Specification of freedesktop.org.
func MenuEntry(program string) (string, error) {
	command, err := entryCommand(program)
	if err != nil {
		return "", err
	}
	return entryHead + "Exec=" + command + " run\nCategories=Development;\nKeywords=MCP;Serena;servers;assistants;\nStartupNotify=false\n", nil
}

// autostartEntry is the text of the entry that starts program with the desktop.
// With unit there is a systemd unit, too, which desktops that systemd starts are
// to leave it to.
//
// Source: Desktop Application Autostart Specification of freedesktop.org;
// systemd-xdg-autostart-generator(8).
func autostartEntry(program string, unit bool) (string, error) {
	command, err := entryCommand(program)
	if err != nil {
		return "", err
	}
	text := entryHead + "Exec=" + command + " run --at-login\nNoDisplay=false\nStartupNotify=false\nX-GNOME-Autostart-enabled=true\n"
	if unit {
		text += "X-systemd-skip=true\n"
	}
	return text + writtenKey + "=true\n", nil
}

// hiddenEntry is the text of an autostart entry that stands for nothing, in
// place of the one of the system.
func hiddenEntry() string { return entryHead + "Hidden=true\n" + writtenKey + "=true\n" }

const entryHead = "[Desktop Entry]\nType=Application\nVersion=1.0\nName=Lamplighter\nGenericName=MCP servers\n" +
	"Comment=Shows and shares MCP servers\nIcon=lamplighter\nTerminal=false\n"

// entryCommand is the start of the value of Exec that runs program.
func entryCommand(program string) (string, error) {
	if err := nameable(program); err != nil {
		return "", err
	}
	// No program of an entry may have an equals sign in its path, and GLib does
	// not find one with a percent sign.
	if strings.ContainsAny(program, "=%") {
		return "/bin/sh -c " + quoteEntry(throughShell) + " " + quoteEntry(program), nil
	}
	return quoteEntry(program), nil
}

// quoteEntry quotes a word where it has to be, and escapes it once more as the
// value of a string.
//
// Source: Desktop Entry Specification, "The Exec key".
func quoteEntry(word string) string {
	text := strings.ReplaceAll(word, "%", "%%")
	if strings.ContainsAny(word, " \"'\\><~|&;$*?#()`") {
		text = `"` + strings.NewReplacer(`"`, `\"`, "`", "\\`", `$`, `\$`, `\`, `\\`).Replace(text) + `"`
	}
	return strings.ReplaceAll(text, `\`, `\\`)
}

// parseEntry reads the keys of the group Desktop Entry, the first of each.
func parseEntry(text string) map[string]string {
	keys := map[string]string{}
	group := ""
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			group = line
		case group == "[Desktop Entry]":
			key, value, found := strings.Cut(line, "=")
			key = strings.TrimSpace(key)
			if _, twice := keys[key]; found && !twice {
				keys[key] = strings.TrimSpace(value)
			}
		}
	}
	return keys
}

// entryOn reports whether an autostart entry starts anything on a desktop, which
// has the names current; none when they are not known.
func entryOn(keys map[string]string, current []string) bool {
	among := func(key string) bool {
		return slices.ContainsFunc(strings.Split(keys[key], ";"), func(name string) bool { return name != "" && slices.Contains(current, name) })
	}
	switch {
	case strings.EqualFold(keys["Hidden"], "true"), strings.EqualFold(keys["X-GNOME-Autostart-enabled"], "false"):
		return false
	case len(current) > 0 && keys["OnlyShowIn"] != "" && !among("OnlyShowIn"), among("NotShowIn"):
		return false
	}
	return true
}

// entryProgram is the program of the value of Exec, "" when it cannot be told.
func entryProgram(value string) string {
	words, ok := splitEntry(unescapeEntry(value))
	if !ok {
		return ""
	}
	return programOf(words)
}

// unescapeEntry undoes the escapes of strings.
func unescapeEntry(value string) string {
	return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(value)
}

// splitEntry parts a command line into its words, without the field codes. Other
// than the specification it takes what desktops take: single quotes, and quotes
// in the middle of a word.
func splitEntry(line string) (words []string, ok bool) {
	var word strings.Builder
	inside, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		last := i+1 == len(line)
		switch {
		case c == '\\' && quote != '\'':
			if last {
				return nil, false
			}
			if next := line[i+1]; quote == '"' && !strings.ContainsRune("\"`$\\", rune(next)) {
				word.WriteByte(c)
			} else {
				word.WriteByte(next)
				i++
			}
			inside = true
		case c == '%':
			if last {
				return nil, false
			}
			if i++; line[i] == '%' {
				word.WriteByte('%')
				inside = true
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inside = c, true
		case quote == 0 && strings.IndexByte(" \t\n\r", c) >= 0:
			if inside {
				words = append(words, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteByte(c)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words, quote == 0
}
