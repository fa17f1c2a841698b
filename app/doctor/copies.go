package doctor

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/app/api"
	"lamplighter/monitor"
)

// copyOf is one installed lamplighter: the programs of one directory.
type copyOf struct {
	path    string // as it was found first
	key     string // the same for all programs of one copy, by whatever path
	version string // "" when it cannot be told
	kind    string // of package, as in the file "package": "deb"; "" for none
	byHand  bool   // lamplighter install put it there

	twin  bool // the same program as this command's, byte by byte, at another place
	self  bool // this command
	typed bool // what a shell runs
	runs  bool // in the background
	login bool // started at login
}

// String is a copy in words.
func (c *copyOf) String() string {
	if c.version == "" {
		return c.path + " (version not known)"
	}
	return fmt.Sprintf("%s (%s)", c.path, c.version)
}

// uses are what a copy is used for, in words.
func (c *copyOf) uses() string {
	var list []string
	for _, use := range []struct {
		is   bool
		what string
	}{{c.self, "this command"}, {c.typed, "what a shell runs"}, {c.runs, "what runs in the background"}, {c.login, "what starts at login"}, {c.kind != "", "of a package"}} {
		if use.is {
			list = append(list, use.what)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}

// copyKey names the copy that a program belongs to, by its path without links:
// lamplighter and lamplighter-tray of one directory are one.
func copyKey(path string) string {
	if runtime.GOOS == "windows" {
		path = strings.ToLower(path)
	}
	if name := monitor.ProgramName(path); name == api.Program || name == api.Program+"-tray" {
		return filepath.Dir(path)
	}
	return path
}

// copies are those that are known, each once.
type copies []*copyOf

// add notes a program and returns its copy; nil when there is no such program.
func (l *copies) add(path string) *copyOf {
	path = strings.TrimSuffix(path, " (deleted)")
	if !filepath.IsAbs(path) || runnable(path) != nil {
		return nil
	}
	key := path
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		key = whole
	}
	if key = copyKey(key); key == "" {
		return nil
	}
	for _, c := range *l {
		if c.key == key {
			return c
		}
	}
	c := &copyOf{path: path, key: key}
	*l = append(*l, c)
	return c
}

// find is the copy that a program belongs to; nil when it is of none.
func (l copies) find(path string) *copyOf {
	known := slices.Clone(l)
	if c := known.add(path); c != nil && len(known) == len(l) {
		return c
	}
	return nil
}

// command is what to type for the program that is self.
func (l copies) command(self string) string {
	for _, c := range l {
		if c.self && c.typed {
			return api.Program
		}
	}
	if self == "" {
		return api.Program
	}
	return monitor.Quoted([]string{self})
}

// gatherCopies looks for all copies: this one, those on the PATH, what runs,
// what starts at login, and what was installed by hand or by a package.
func gatherCopies(o Options, w *world) copies {
	var l copies
	use := func(path string, mark func(*copyOf)) {
		if c := l.add(path); c != nil {
			mark(c)
		}
	}
	use(o.Self, func(c *copyOf) { c.self = true })
	dirs := pathDirs(variable(o.Environ, "PATH"))
	use(lookIn(dirs, api.Program), func(c *copyOf) { c.typed = true })
	for _, dir := range dirs {
		l.add(lookIn([]string{dir}, api.Program))
	}
	use(w.background.exe, func(c *copyOf) { c.runs = true })
	for _, e := range w.login.Entries {
		if e.On && e.Err == nil {
			use(started(e.Program, dirs), func(c *copyOf) { c.login = true })
		}
	}
	if r := w.installed.Receipt; r != nil {
		use(r.Program, func(c *copyOf) { c.byHand = true })
	}
	if runtime.GOOS != "windows" {
		l.add("/usr/bin/" + api.Program) // where packages put it
	}
	for _, c := range l {
		c.kind = packageOf(c.path)
		if c.self {
			c.version = o.Version
		} else if c.twin = sameBytes(filepath.Join(filepath.Dir(c.path), filepath.Base(o.Self)), o.Self); c.twin {
			c.version = o.Version
		}
	}
	return l
}

// sameBytes reports whether two files hold the same.
func sameBytes(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	if err != nil || one.Size() != other.Size() {
		return false
	}
	first, err := sumOf(a)
	if err != nil {
		return false
	}
	second, err := sumOf(b)
	return err == nil && first == second
}

func sumOf(path string) (sum [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

// started is the path of what an entry starts.
func started(program string, dirs []string) string {
	if program == "" || filepath.IsAbs(program) {
		return program
	}
	return lookIn(dirs, program)
}

// packageOf is the kind of package that a program came with, "" for none.
func packageOf(path string) string {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		path = whole
	}
	dir := filepath.Dir(path)
	if strings.HasSuffix(filepath.ToSlash(dir), ".app/Contents/MacOS") {
		return "app"
	}
	for _, file := range []string{filepath.Join(dir, "..", "share", api.Program, "package"), filepath.Join(dir, "package")} {
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 100 {
			continue
		}
		text, err := os.ReadFile(file)
		if word := strings.TrimSpace(string(text)); err == nil && slices.Contains([]string{"deb", "rpm", "setup"}, word) {
			return word
		}
	}
	return ""
}

// judgeCopies is about several copies on one machine.
func judgeCopies(l copies, command string) []Line {
	// What was installed from here, and is not used from here, is no other one.
	if i := slices.IndexFunc(l, func(c *copyOf) bool { return c.self && !c.typed && !c.runs && !c.login && c.kind == "" && !c.byHand }); i >= 0 &&
		slices.ContainsFunc(l, func(c *copyOf) bool { return c.twin }) {
		l = slices.Delete(slices.Clone(l), i, i+1)
	}
	if len(l) < 2 {
		return nil
	}
	texts := make([]string, len(l))
	var typed, packaged, hand *copyOf
	differ := false
	for i, c := range l {
		texts[i] = c.String() + c.uses()
		differ = differ || c.version != l[0].version && c.version != "" && l[0].version != ""
		if c.typed {
			typed = c
		}
		if c.kind != "" {
			packaged = c
		}
		if c.byHand {
			hand = c
		}
	}
	line := Line{
		Mark: Warn, Text: fmt.Sprintf("there are %d lamplighters: %s", len(l), strings.Join(texts, "; ")),
		Means: "What you type may not be what runs in the background.", Do: "Remove those that you do not want.",
	}
	if differ {
		line.Means = "They are of different versions, and what you type may not be what runs in the background."
	}
	switch {
	case packaged != nil && typed != nil && typed != packaged:
		line.Means = fmt.Sprintf("A shell runs %s, which hides %s of the package: its upgrades change nothing for you.", typed.path, packaged.path)
		line.Do = "Keep one of them. The package: " + typed.away() + ". The other: " + packaged.away() + "."
	case packaged != nil && hand != nil && hand != packaged:
		line.Do = "Keep one of them. The package: " + hand.away() + ". The other: " + packaged.away() + "."
	case hand != nil && hand.kind != "":
	case hand != nil && !hand.self && l[0].self:
		line.Do = "To bring " + hand.path + " up to this one: " + command + " install"
	case hand != nil:
		var others []string
		for _, c := range l {
			if c != hand && !c.runs && !c.self {
				others = append(others, c.away())
			}
		}
		// What runs or asks is in use: first its place is taken.
		line.Do = "To have " + hand.path + " run in place of the others: " + monitor.Quoted([]string{hand.path, "install"})
		if len(others) > 0 {
			line.Do = "To keep " + hand.path + " alone: " + strings.Join(others, "; ")
		}
	}
	return []Line{line}
}

// away is how to take a copy away.
func (c *copyOf) away() string {
	switch {
	case c.kind == "deb":
		return "sudo apt remove lamplighter"
	case c.kind == "rpm":
		return "sudo rpm -e lamplighter"
	case c.kind == "setup":
		return "remove Lamplighter in Settings, Apps"
	case c.kind == "app":
		return "put Lamplighter.app into the bin"
	case c.byHand:
		return monitor.Quoted([]string{c.path, "uninstall"})
	case c.runs:
		return "quit it from its menu, then remove " + c.path + " and lamplighter-connect beside it"
	}
	return "remove " + c.path + " and lamplighter-connect beside it"
}
