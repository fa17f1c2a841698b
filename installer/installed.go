package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/monitor/statefile"
)

// Installed tells what the program that runs belongs to. With an error, that of
// a receipt that cannot be used, the rest is told still.
func (i *Installer) Installed() (Installation, error) {
	here := Installation{Kind: None, Programs: i.programsHere(), Unfinished: i.interrupted()}
	r, err := i.readReceipt()
	if j, jerr := i.journal(); jerr == nil && j != nil && r != nil {
		r.Unfinished = j.Words
	}
	here.Receipt = r
	if how := i.packaged(); how != "" {
		here.Kind, here.How = Package, how
		return here, err
	}
	if r != nil && r.Program != "" && sameFile(r.Program, here.Programs.Main) {
		here.Kind = ByHand
	}
	return here, err
}

// packaged is the word of the package that the program came with, "" for none.
func (i *Installer) packaged() string {
	if i.o.Self == "" {
		return ""
	}
	dir := filepath.Dir(i.self())
	if i.o.OS == "darwin" && filepath.Base(dir) == "MacOS" && filepath.Base(filepath.Dir(dir)) == "Contents" &&
		strings.HasSuffix(filepath.Dir(filepath.Dir(dir)), ".app") {
		return "app"
	}
	mark := filepath.Join(filepath.Dir(dir), "share", ownName, "package")
	if i.o.OS == "windows" {
		mark = filepath.Join(dir, "package")
	}
	if word := readMark(mark); word != archiveWord {
		return word
	}
	return ""
}

// archiveWord is in the mark of an archive that was unpacked, which is no
// package.
const archiveWord = "archive"

// readMark reads the word that a package puts beside its files; "" for none.
func readMark(path string) string {
	data, err := statefile.Read(path, 64)
	word := strings.TrimSpace(string(data))
	if err != nil || word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return word
}

// self is the executable that runs, behind links.
func (i *Installer) self() string {
	// What Linux calls a program whose file was removed while it runs. Source:
	// proc_pid_exe(5).
	path := i.o.Self
	if i.o.OS == "linux" {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			path = strings.TrimSuffix(path, " (deleted)")
		}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// exe is the name of an executable.
func (i *Installer) exe(name string) string {
	if i.o.OS == "windows" {
		return name + ".exe"
	}
	return name
}

const (
	mainName    = "lamplighter"
	connectName = "lamplighter-connect"
	trayName    = "lamplighter-tray"
)

// programsHere are those that lie where the one that runs does. Connect and Tray
// are named when they are there.
func (i *Installer) programsHere() Programs {
	if i.o.Self == "" {
		return Programs{}
	}
	self := i.self()
	dir := filepath.Dir(self)
	p := Programs{Main: self}
	if i.o.OS == "windows" {
		if strings.EqualFold(filepath.Base(self), i.exe(trayName)) {
			p.Tray = self
			if path := filepath.Join(dir, i.exe(mainName)); isRegular(path) {
				p.Main = path
			}
		} else if path := filepath.Join(dir, i.exe(trayName)); isRegular(path) {
			p.Tray = path
		}
	}
	if path := filepath.Join(dir, i.exe(connectName)); isRegular(path) {
		p.Connect = path
	}
	return p
}

// isRegular reports whether a file is at path, through links.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// sameFile reports whether two paths are of the same file.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
