package notify

import (
	"strings"

	"lamplighter/monitor"
)

// How much text is sent at most, in columns. Desktops cut it where they like,
// mostly earlier; the rest could only do harm.
const (
	summaryColumns = 100
	lineColumns    = 300
	bodyLines      = 10
	buttonColumns  = 40
)

// abilities are what the desktop can show.
type abilities struct {
	body    bool // more than a summary
	markup  bool // the body is read as markup, so text must be escaped
	actions bool // buttons
}

// message is a notification as the desktop gets it.
type message struct {
	summary, body string
	actions       []Action
}

// defaultKey is what pressing the notification itself means on a freedesktop.
// It is no button.
const defaultKey = "default"

// compose makes the texts of a notification for a desktop. app is the name of
// the program, in whose menu and on whose page the user finds what the desktop
// has no buttons for.
func compose(n Notification, can abilities, app string) message {
	m := message{summary: monitor.Shorten(monitor.Clean(n.Summary), summaryColumns)}
	lines := cleanLines(n.Body)
	var buttons []string
	for _, a := range n.Actions {
		a.Words = monitor.Shorten(monitor.Clean(a.Words), buttonColumns)
		m.actions = append(m.actions, a)
		if a.Key != defaultKey {
			buttons = append(buttons, a.Words)
		}
	}
	if !can.actions {
		m.actions = nil
		if len(buttons) > 0 {
			lines = append(lines, "In the menu or on the page of "+app+": "+strings.Join(buttons, ", ")+".")
		}
	}
	m.body = strings.Join(lines, "\n")
	switch {
	case !can.body && m.body != "":
		m.summary = m.summary + ": " + strings.Join(lines, " ")
		m.body = ""
	case can.markup:
		m.body = escape.Replace(m.body)
	}
	return m
}

// cleanLines cleans each line of a text and leaves out those that are empty or
// too many.
func cleanLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = monitor.Shorten(monitor.Clean(line), lineColumns); line == "" {
			continue
		}
		if len(lines) == bodyLines {
			return append(lines, "…")
		}
		lines = append(lines, line)
	}
	return lines
}

// escape makes text of what would be markup. Only these three are named by the
// specification; services differ in what else they know.
//
// Source: Desktop Notifications Specification (freedesktop.org), "Markup".
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// tame makes text harmless for the notifications of Windows. The library puts
// it into XML as CDATA without looking into it, and that into a script for
// PowerShell where the system's own way fails, in a string that PowerShell
// expands: a directory named $(…) would be run. Lines are joined, because a line
// of its own can end that string.
func tame(text string) string {
	return taming.Replace(strings.Join(strings.Fields(text), " "))
}

var taming = strings.NewReplacer("]]>", "]] >", "$", "\uff04", "`", "'")

// tameIcon is the path of an icon, "" when it would be more than that where
// the library puts it: see tame.
func tameIcon(path string) string {
	if strings.ContainsAny(path, "&<>\"'$`") {
		return ""
	}
	return path
}
