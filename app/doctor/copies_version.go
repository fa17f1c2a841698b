package doctor

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"
)

// readLimit is how long it may take to read one program's file.
const readLimit = 5 * time.Second

// readVersions reads the versions of all other copies out of their files. None is
// run: what bears our name may be any program, or a link to one. One copy alone
// is compared with nothing, and not read.
func (l copies) readVersions(ctx context.Context) {
	if len(l) < 2 {
		return
	}
	for _, c := range l {
		if c.version != "" {
			continue
		}
		if version, err := within(ctx, readLimit, func(context.Context) string { return versionOf(c.path) }); err == nil {
			c.version = version
		}
	}
}

// versionOf is the version of a lamplighter, read from its file; "" where it
// cannot be told, as of a build without a stamp. No pipe or device is opened.
func versionOf(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 256 << 20
	return versionIn(io.LimitReader(f, most))
}

// The stamp of a program is the mark, its version and a semicolon. A build sets
// it, since Go itself does not record the linker's flags with -trimpath.
//
// Source: build.sh, stamped; package cmd/go/internal/load, setBuildInfo.
const (
	upperMark     = "LAMPLIGHTER-VERSION=" // the mark in capitals: as it is, it would lie in this program, too
	versionLength = 80                     // the longest version that is taken for one
)

// versionIn finds the version in the text of a program, "" for none.
func versionIn(r io.Reader) string {
	mark := bytes.ToLower([]byte(upperMark))
	const block = 1 << 20
	text := make([]byte, 0, block)
	for {
		n, err := io.ReadFull(r, text[len(text):block])
		text = text[:len(text)+n]
		for rest := text; ; {
			var found bool
			if _, rest, found = bytes.Cut(rest, mark); !found {
				break
			}
			if version := stampAt(rest); version != "" {
				return version
			}
		}
		if err != nil {
			return ""
		}
		// A stamp may lie across two blocks.
		keep := len(mark) + versionLength
		text = append(text[:0], text[len(text)-keep:]...)
	}
}

// stampAt is the version at the start of text, "" when there is none.
func stampAt(text []byte) string {
	version, _, found := bytes.Cut(text[:min(len(text), versionLength+1)], []byte(";"))
	if !found || bytes.ContainsFunc(version, func(r rune) bool { return !ofVersion(r) }) {
		return ""
	}
	return string(version)
}

func ofVersion(r rune) bool {
	switch {
	case '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return true
	}
	return r == '.' || r == '+' || r == '-' || r == '~' || r == '_'
}
