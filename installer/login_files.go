package installer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"lamplighter/monitor/statefile"
)

// marker is a line of each file that we write for start at login.
const marker = "Written by lamplighter install."

// marked is the text of a unit or an entry, as one of ours.
func marked(text string) []byte { return []byte("# " + marker + "\n" + text) }

// isOurs reports whether a text was written by us. The desktop's own settings drop
// comments when they switch an autostart entry, and keep its keys.
func isOurs(content []byte) bool {
	for line := range bytes.Lines(content) {
		switch string(bytes.TrimSpace(line)) {
		case "# " + marker, "<!-- " + marker + " -->", writtenKey + "=true":
			return true
		}
	}
	return false
}

// mostBytes is how much of a file is read. Those that start programs are small.
const mostBytes = 64 << 10

// Errors of files that are not read.
var (
	errNoFile = errors.New("it is not a file")
	errHuge   = errors.New("it is too large to be one")
)

// readSmall reads a file that somebody else may have made, and follows links. It
// waits for nothing, as a pipe without a writer would have it.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, statefile.Cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, statefile.Cause(err)
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		return nil, statefile.Cause(err)
	}
	content, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if err == nil && len(content) > mostBytes {
		err = errHuge
	}
	return content, statefile.Cause(err)
}

// lie is what lies at the path of a file of ours.
type lie int

const (
	liesNothing lie = iota
	liesSame        // what we would write
	liesOurs
	liesForeign
)

// lying looks at the path of a file that is to have a content. Links are not
// followed: nobody has us write elsewhere. The error is about one that cannot be
// read, or a directory, which no file of ours takes the place of.
func lying(path string, content []byte) (lie, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return liesNothing, nil
	case err != nil:
		return liesForeign, fmt.Errorf("cannot look at %s: %w", shown(path), statefile.Cause(err))
	case info.IsDir():
		return liesForeign, fmt.Errorf("%s is a directory, where a file is to be: %w. Move it away", shown(path), ErrForeign)
	case !info.Mode().IsRegular():
		return liesForeign, nil
	}
	lies, err := readSmall(path)
	switch {
	case errors.Is(err, errHuge):
		return liesForeign, nil
	case err != nil:
		return liesForeign, fmt.Errorf("cannot read %s: %w", shown(path), err)
	case bytes.Equal(lies, content):
		return liesSame, nil
	case isOurs(lies):
		return liesOurs, nil
	}
	return liesForeign, nil
}

// put plans to have content in a file.
func (p *Plan) put(path string, content []byte, replace bool, why string) error {
	lies, err := lying(path, content)
	switch {
	case err != nil:
		return err
	case lies == liesSame:
		return nil
	case lies == liesForeign && !replace:
		if isMask(path) {
			return fmt.Errorf("%s is masked: %w. Unmask it: systemctl --user unmask %s", shown(path), ErrForeign, filepath.Base(path))
		}
		return fmt.Errorf("%s is in the way: %w. Move it away, or have it put aside: lamplighter install --replace", shown(path), ErrForeign)
	}
	p.Changes = append(p.Changes, Change{Op: OpWrite, Path: path, Content: content, Mode: 0o644, Backup: lies == liesForeign, Why: why})
	return nil
}

// drop plans to remove a file when it is one of ours, and tells whether another
// one stays. What cannot be read stays, and is noted.
func (p *Plan) drop(path, why string) (stays bool) {
	lies, err := lying(path, nil)
	switch {
	case err != nil:
		p.note(sentence(err.Error()))
		return true
	case lies == liesOurs:
		p.Changes = append(p.Changes, Change{Op: OpRemove, Path: path, Why: why})
	}
	return lies == liesForeign
}

// isMask tells a link that stands for no unit.
func isMask(path string) bool {
	to, err := os.Readlink(path)
	return err == nil && to == os.DevNull
}

// sentence gives a text the looks of one.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
