package installer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// Keys of the registry. Windows starts what the first names, unless the second
// says that the user has switched it off in the Task Manager.
//
// Source: "Run and RunOnce Registry Keys" of the Windows documentation; that the
// first byte of a value is odd for what is switched off was seen on Windows.
const (
	runKey      = `Software\Microsoft\Windows\CurrentVersion\Run`
	approvedKey = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
	valueName   = "Lamplighter"
	forUser     = `HKCU\`
	forAll      = `HKLM\`
)

// longestRun is how long a command line below the key Run may be, in UTF-16.
//
// Source: as above.
const longestRun = 260

// runValue is one value below a key Run.
type runValue struct {
	root, name, line string
	off              bool  // switched off in the Task Manager
	err              error // it cannot be read
}

// runKeys is start at login on Windows: what the registry has of it.
type runKeys struct {
	own       *value     // the one of our name, nil for none; see isOurs
	approved  *value     // what the Task Manager says of it, nil for nothing
	ownErr    error      // they cannot be read
	elsewhere []runValue // others that name lamplighter, of this user and of all
	text      func(string) (*value, error)
}

func (i *Installer) runKeys() runKeys {
	r := runKeys{text: i.values.text}
	var err error
	if r.own, r.ownErr = i.values.get(forUser+runKey, valueName); r.ownErr == nil {
		r.approved, r.ownErr = i.values.get(forUser+approvedKey, valueName)
	}
	for _, root := range []string{forUser, forAll} {
		var list []runValue
		if list, err = readRun(root); err != nil {
			list = []runValue{{root: root, err: err}}
		}
		for _, v := range list {
			if ours := root == forUser && strings.EqualFold(v.name, valueName); !ours {
				r.elsewhere = append(r.elsewhere, v)
			}
		}
	}
	return r
}

func (r runKeys) entries() ([]LoginEntry, *LoginEntry) {
	var list []LoginEntry
	if r.own != nil || r.ownErr != nil {
		e := LoginEntry{How: howRegistry, Path: forUser + runKey + `\` + valueName, Ours: r.isOurs(), Err: r.ownErr}
		if r.ownErr == nil {
			var line string
			if line, e.Err = r.own.line(); e.Err == nil {
				e.On, e.Program = !r.approved.odd(), runProgram(line)
			}
		}
		list = append(list, e)
	}
	for _, v := range r.elsewhere {
		e := LoginEntry{How: howRegistry, Path: v.root + runKey, Err: v.err}
		if v.name != "" {
			e.Path += `\` + v.name
			e.On, e.Program = v.err == nil && !v.off, runProgram(v.line)
		}
		list = append(list, e)
	}
	return list, nil
}

// isOurs reports whether the value of our name starts one of our programs, wherever
// that lies. Other programs may be called Lamplighter, too.
func (r runKeys) isOurs() bool {
	if r.own == nil {
		return false
	}
	line, err := r.own.line()
	if err != nil {
		return false
	}
	program := asciiLower(runProgram(line))
	program = program[strings.LastIndexAny(program, `\/`)+1:]
	return program == trayName+".exe" || program == mainName+".exe"
}

// Types of values that are texts.
const (
	typeText     = 1 // REG_SZ
	typeExpanded = 2 // REG_EXPAND_SZ
)

// line is the text of a value, up to its end.
func (v *value) line() (string, error) {
	if v.Type != typeText && v.Type != typeExpanded {
		return "", errors.New("it is no text")
	}
	var units []uint16
	for n := 0; n+1 < len(v.Data); n += 2 {
		unit := binary.LittleEndian.Uint16(v.Data[n:])
		if unit == 0 {
			break
		}
		units = append(units, unit)
	}
	return string(utf16.Decode(units)), nil
}

// odd reports whether the first byte is.
func (v *value) odd() bool { return v != nil && len(v.Data) > 0 && v.Data[0]%2 == 1 }

// runProgram is the program of a command line. It may be quoted; a path may have
// spaces without that.
func runProgram(line string) string {
	line = strings.TrimSpace(line)
	if rest, quoted := strings.CutPrefix(line, `"`); quoted {
		word, _, _ := strings.Cut(rest, `"`)
		return word
	}
	if i := strings.Index(asciiLower(line), ".exe"); i >= 0 {
		return line[:i+len(".exe")]
	}
	word, _, _ := strings.Cut(line, " ")
	return word
}

// asciiLower keeps the places of all bytes.
func asciiLower(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

// runLine is the command line that starts program at login.
func runLine(program string) (string, error) {
	line := `"` + program + `" run --at-login`
	switch {
	case program == "" || strings.ContainsFunc(program, func(r rune) bool { return unwritable(r) || r == '"' }):
		return "", fmt.Errorf("%q cannot be started at login: that is no path of a program. Install it elsewhere", program)
	case len(utf16.Encode([]rune(line))) > longestRun:
		return "", fmt.Errorf("%s cannot be started at login: with its options that is longer than the %d characters that Windows takes. Install it elsewhere", shown(program), longestRun)
	}
	return line, nil
}

func (r runKeys) on(programs Programs, o InstallOptions) (Plan, error) {
	var p Plan
	if o.Headless {
		return p, errors.New("cannot start at login without a desktop: Windows starts programs of a user on one. Leave out --headless, or install with --no-login")
	}
	if r.ownErr != nil {
		return p, fmt.Errorf("cannot read %s: %w", forUser+runKey, r.ownErr)
	}
	program := programs.Tray
	if program == "" {
		program = programs.Main
	}
	line, err := runLine(program)
	if err != nil {
		return p, err
	}
	want, err := r.text(line)
	if err != nil {
		return p, fmt.Errorf("%s cannot be started at login: %w", shown(program), err)
	}
	if r.own != nil && !r.isOurs() {
		lies, err := r.own.line()
		if err != nil {
			lies = err.Error()
		}
		if !o.Replace {
			return p, fmt.Errorf("the value %s of %s is in the way: %w, but is: %s. Rename it, or have it replaced: lamplighter install --replace", valueName, forUser+runKey, ErrForeign, shown(lies))
		}
		p.note(fmt.Sprintf("The value %s of %s is replaced. It was: %s", valueName, forUser+runKey, shown(lies)))
	}
	if !want.equal(r.own) {
		p.Changes = append(p.Changes, Change{Op: OpSetValue, Path: forUser + runKey, Name: valueName, Content: []byte(line), Why: "so that it starts at login"})
	}
	if r.approved.odd() {
		p.Changes = append(p.Changes, Change{Op: OpDeleteValue, Path: forUser + approvedKey, Name: valueName, Why: "it was switched off in the Task Manager"})
	}
	return p, nil
}

func (r runKeys) off() (Plan, error) {
	var p Plan
	if r.ownErr != nil {
		return p, fmt.Errorf("cannot read %s: %w", forUser+runKey, r.ownErr)
	}
	if r.isOurs() {
		p.Changes = append(p.Changes, Change{Op: OpDeleteValue, Path: forUser + runKey, Name: valueName, Why: "start at login"})
	}
	if r.approved != nil && (r.own == nil || r.isOurs()) {
		p.Changes = append(p.Changes, Change{Op: OpDeleteValue, Path: forUser + approvedKey, Name: valueName, Why: "what the Task Manager knows of it"})
	}
	for _, e := range r.others() {
		p.note(othersStay(e))
	}
	return p, nil
}

func (r runKeys) others() []LoginEntry {
	list, _ := r.entries()
	return slices.DeleteFunc(list, func(e LoginEntry) bool { return !e.On || e.Ours })
}

func (r runKeys) silence(p *Plan) error {
	for _, e := range r.others() {
		return fmt.Errorf("%s starts it, and %w. Switch it off in the Task Manager, under Startup apps", shown(e.Path), ErrForeign)
	}
	p.Notes = nil
	return nil
}

func (r runKeys) odd(Login) string { return "" }

// resident: nothing of it disturbs a program that runs.
func (r runKeys) resident(*Plan) {}
