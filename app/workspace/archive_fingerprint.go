package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"lamplighter/monitor"
)

// fingerprint is of the names, kinds, sizes and times of all that is below dir:
// it differs once somebody has written there. What cannot be looked at counts as
// that.
func fingerprint(ctx context.Context, dir string) (string, error) {
	sum := sha256.New()
	var number [8]byte
	add := func(n int64) {
		binary.LittleEndian.PutUint64(number[:], uint64(n))
		sum.Write(number[:])
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, fs.ErrPermission) || d == nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		add(int64(len(name)))
		sum.Write([]byte(name))
		add(int64(info.Mode()))
		add(info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			add(info.Size())
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// mostSpecials bounds how many are named in a sentence.
const mostSpecials = 3

// specials names what is below dir that neither versions nor archives have: pipes,
// sockets and devices; "" when there is nothing of the kind.
func specials(ctx context.Context, dir string) (string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if d == nil || err != nil && errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) == 0 {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if names = append(names, monitor.Clean(name)); len(names) > mostSpecials {
			names[mostSpecials] = "…"
			return fs.SkipAll
		}
		return nil
	})
	return strings.Join(names, ", "), err
}
