package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lamplighter/app/api"
	"lamplighter/installer"
	"lamplighter/monitor"
)

// shownLine is a change as a line of a list.
func shownLine(c installer.Change) string { return "  " + monitor.Clean(c.String()) }

// planText lists changes, with the contents of files where they are wanted; "" for
// none. How says whether they are done or would be.
func planText(how string, changes []installer.Change, contents bool) string {
	if len(changes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(how + ":\n")
	for _, c := range changes {
		b.WriteString(shownLine(c) + "\n")
		if contents && c.Op == installer.OpWrite {
			b.WriteString(contentText(c.Content))
		}
	}
	return b.String()
}

// contentText is the content of a file below its line.
func contentText(content []byte) string {
	if !utf8.Valid(content) {
		return fmt.Sprintf("      (%d bytes)\n", len(content))
	}
	var b strings.Builder
	for line := range strings.Lines(string(content)) {
		b.WriteString(strings.TrimRight("      "+monitor.Clean(strings.TrimSuffix(line, "\n")), " ") + "\n")
	}
	return b.String()
}

func notesText(notes []string) string {
	var b strings.Builder
	for _, note := range notes {
		b.WriteString(monitor.Clean(note) + "\n")
	}
	return b.String()
}

// changeJSON is a change for programs.
type changeJSON struct {
	Op       string   `json:"op"`
	Path     *string  `json:"path"`
	From     *string  `json:"from"`
	Name     *string  `json:"name"`    // of a value
	Content  *string  `json:"content"` // of a file that is written, or of a value; null where it is no text
	Mode     *string  `json:"mode"`    // of a file, in octal digits
	Command  []string `json:"command"`
	GUI      bool     `json:"gui"`
	Backup   bool     `json:"backup"`
	Optional bool     `json:"optional"`
	Why      *string  `json:"why"`
}

func encodeChange(c installer.Change) changeJSON {
	known := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	out := changeJSON{
		Op: string(c.Op), Path: known(c.Path), From: known(c.From), Name: known(c.Name), Command: append([]string{}, c.Command...),
		GUI: c.GUI, Backup: c.Backup, Optional: c.Optional, Why: known(c.Why),
	}
	switch c.Op {
	case installer.OpWrite, installer.OpCopy:
		mode := c.Mode
		if mode == 0 {
			mode = 0o644
		}
		out.Mode = known(fmt.Sprintf("%04o", mode.Perm()))
	}
	if (c.Op == installer.OpWrite || c.Op == installer.OpSetValue) && utf8.Valid(c.Content) {
		text := string(c.Content)
		out.Content = &text
	}
	return out
}

// installJSON is what install --json prints.
type installJSON struct {
	Version string       `json:"version"`
	DryRun  bool         `json:"dry_run"`
	Changes []changeJSON `json:"changes"` // that were made, or would be
	Notes   []string     `json:"notes"`
	// Next is "start" or "restart", "" when the background process is left as it is.
	Next  string    `json:"next"`
	Login loginJSON `json:"login"`
	PID   *int      `json:"pid"` // of the background process that runs now
	Error *string   `json:"error"`
}

type loginJSON struct {
	On  bool    `json:"on"`
	Can bool    `json:"can"`
	How *string `json:"how"`
	Why *string `json:"why"`
}

func (r *installRun) json(changes []installer.Change, dryRun bool, health *api.Health, err error) installJSON {
	out := installJSON{Version: r.Version, DryRun: dryRun, Changes: []changeJSON{}, Notes: append([]string{}, r.plan.Notes...), Next: string(r.step())}
	for _, c := range changes {
		out.Changes = append(out.Changes, encodeChange(c))
	}
	login := r.installer.Login()
	out.Login = loginJSON{On: login.On, Can: login.Can}
	if login.How != "" {
		out.Login.How = &login.How
	}
	if login.Why != "" {
		out.Login.Why = &login.Why
	}
	switch {
	case health != nil:
		out.PID = &health.PID
	case r.running != nil && err == nil:
		out.PID = &r.running.pid
	}
	if err != nil {
		text := err.Error()
		out.Error = &text
	}
	return out
}
