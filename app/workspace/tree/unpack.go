package tree

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// What is wrong with an archive.
var (
	ErrArchive  = errors.New("the archive is damaged, or none of ours")
	ErrTooLarge = errors.New("the archive holds more than it may")
)

// Bounds of what is believed of an archive.
const (
	mostEntries = 20_000_000
	mostDepth   = 4096     // of directories, as many as are open at a time
	mostWindow  = 64 << 20 // memory that it may ask for
)

// Unpack reads what Pack wrote: the content of each name into the directory that
// dirs has for it, which is there and empty; other names are left out. Nothing is
// written outside of these, whatever the archive says: names that lead elsewhere are an
// ErrArchive, and so are links to files that are not in the same directory of the
// archive. Symbolic links are made as they are and never followed. No more than limit bytes are unpacked
// in all, else the error Is ErrTooLarge; a negative one is none. Unpack with nil dirs writes nothing and verifies
// that an archive is whole. When it fails, what is in dirs is the caller's to remove.
func Unpack(ctx context.Context, r io.Reader, dirs map[string]string, limit int64, progress func(Count)) (Count, error) {
	u := &unpacker{ctx: ctx, limit: limit, roots: map[string]*unpacked{}}
	u.tally.tell = progress
	err := u.open(dirs)
	if err == nil {
		err = u.all(r)
	}
	for _, root := range u.roots {
		if err == nil {
			err = root.finish()
		}
		root.close()
	}
	if err != nil {
		err = fmt.Errorf("unpacking: %w", err)
	}
	return u.tally.end(), err
}

type unpacker struct {
	ctx   context.Context // of one Unpack
	limit int64
	roots map[string]*unpacked
	tally tally
}

func (u *unpacker) open(dirs map[string]string) error {
	for name, path := range dirs {
		d, err := openDir(path)
		if err != nil {
			return err
		}
		u.roots[name] = &unpacked{open: []*dir{d}, files: map[string]bool{}}
		there, err := d.entries()
		if err != nil {
			return err
		}
		if len(there) > 0 {
			return fmt.Errorf("%s is not empty; name a directory that is", path)
		}
	}
	return nil
}

// all reads the whole archive.
func (u *unpacker) all(r io.Reader) error {
	frames, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return err
	}
	defer frames.Close()
	return u.tar(frames)
}

// tar reads a tar to its end and beyond.
func (u *unpacker) tar(r io.Reader) error {
	plain := &ending{r: r}
	in := tar.NewReader(plain)
	entries, written := 0, int64(0)
	for ; ; entries++ {
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w (%w)", ErrArchive, err)
		}
		if h.Typeflag != tar.TypeReg {
			h.Size = 0
		}
		if entries >= mostEntries || (u.limit >= 0 && h.Size > u.limit-written) {
			return fmt.Errorf("%w: at %q", ErrTooLarge, h.Name)
		}
		written += h.Size
		if err := u.entry(in, h); err != nil {
			return fmt.Errorf("%q: %w", h.Name, err)
		}
	}
	if entries == 0 || plain.ended { // tar's reader takes that for an end
		return fmt.Errorf("%w: its end is missing", ErrArchive)
	}
	// The checksum comes after the end of the tar, and nothing else may.
	if n, err := io.Copy(io.Discard, io.LimitReader(plain, mostTrailer)); err != nil {
		return fmt.Errorf("%w (%w)", ErrArchive, err)
	} else if n == mostTrailer {
		return fmt.Errorf("%w: something follows it", ErrArchive)
	}
	return nil
}

// ending notes that there was nothing more to read.
type ending struct {
	r     io.Reader
	ended bool
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.ended = e.ended || n == 0 && errors.Is(err, io.EOF)
	return n, err
}

// mostTrailer is more than tar programs write after the end.
const mostTrailer = 1 << 20

// entry unpacks one entry, or reads it where it is not wanted.
func (u *unpacker) entry(in io.Reader, h *tar.Header) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	names, err := split(h.Name)
	if err != nil {
		return err
	}
	if h.Typeflag != tar.TypeDir && len(names) == 1 {
		return fmt.Errorf("%w: it lies in none of its directories", ErrArchive)
	}
	root := u.roots[names[0]]
	names = names[1:]
	var to []string
	switch h.Typeflag {
	case tar.TypeDir, tar.TypeReg, tar.TypeSymlink:
	case tar.TypeLink:
		if to, err = split(h.Linkname); err != nil {
			return err
		}
		if len(to) < 2 || to[0] != strings.SplitN(h.Name, "/", 2)[0] {
			return fmt.Errorf("%w: it is a link to what lies elsewhere", ErrArchive)
		}
	default:
		return fmt.Errorf("%w: it is of a kind that is not packed", ErrArchive)
	}
	if root == nil { // tar's reader passes over what is not read
		if len(names) > 0 && len(u.roots) == 0 {
			u.tally.add(1, 0)
			return u.blocks(in, h.Size, func([]byte) error { return nil })
		}
		return nil
	}
	if len(names) == 0 {
		root.dirs = append(root.dirs, waiting{meta: metaOfHeader(h), root: true})
		return nil
	}
	d, err := root.enter(names[:len(names)-1])
	if err != nil {
		return err
	}
	name, path := names[len(names)-1], strings.Join(names, "/")
	switch h.Typeflag {
	case tar.TypeDir:
		err = d.mkdir(name)
		root.dirs = append(root.dirs, waiting{path: names, meta: metaOfHeader(h)})
	case tar.TypeSymlink:
		if err = d.symlink(h.Linkname, name); err == nil {
			err = d.setTimes(name, metaOfHeader(h))
		}
	case tar.TypeLink:
		err = root.link(to[1:], d, names)
	default:
		err = u.file(in, h, d, name)
		root.files[path] = true
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: it is there twice (%w)", ErrArchive, err)
	case isFull(err):
		return fmt.Errorf("%w; make room on that disk, then try again", err)
	}
	if err == nil {
		u.tally.add(1, 0)
	}
	return err
}

// split is a path in an archive as its names.
func split(path string) ([]string, error) {
	names := strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(names) > mostDepth {
		return nil, fmt.Errorf("%w: it is deeper than %d directories", ErrArchive, mostDepth)
	}
	for _, name := range names {
		if !plain(name) || !filepath.IsLocal(name) || strings.ContainsRune(name, filepath.Separator) {
			return nil, fmt.Errorf("%w: that leads out of it", ErrArchive)
		}
	}
	return names, nil
}

// metaOfHeader is what an archive says of a file.
func metaOfHeader(h *tar.Header) meta {
	m := meta{kind: regular, perm: permOf(h), size: h.Size}
	switch h.Typeflag {
	case tar.TypeDir:
		m.kind = directory
	case tar.TypeSymlink:
		m.kind = link
	}
	at := h.ModTime
	if at.Before(earliest) || at.After(latest) {
		at = earliest
	}
	m.mtime = moment{at.Unix(), int64(at.Nanosecond())}
	m.atime = m.mtime
	return m
}

// Between these any file system keeps times, and nanoseconds are no overflow.
var (
	earliest = time.Date(1902, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2261, 1, 1, 0, 0, 0, 0, time.UTC)
)

// unpacked is a directory that is being filled.
type unpacked struct {
	open  []*dir   // the root, and the directories down to where we are
	names []string // of those below the root
	files map[string]bool
	dirs  []waiting
}

// waiting is a directory that gets its times and permissions last.
type waiting struct {
	path []string
	meta meta
	root bool // it keeps the permissions that it has
}

// enter opens a directory, from the one where we are as far as they have a way in
// common. All of it was made before.
func (r *unpacked) enter(names []string) (*dir, error) {
	common := 0
	for common < len(names) && common < len(r.names) && names[common] == r.names[common] {
		common++
	}
	for len(r.names) > common {
		last := len(r.names)
		r.open[last].close()
		r.open, r.names = r.open[:last], r.names[:last-1]
	}
	for _, name := range names[common:] {
		d, err := r.open[len(r.open)-1].sub(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errChanged) {
			return nil, fmt.Errorf("%w: the directory that it lies in is not there", ErrArchive)
		}
		if err != nil {
			return nil, err
		}
		r.open, r.names = append(r.open, d), append(r.names, name)
	}
	return r.open[len(r.open)-1], nil
}

func (r *unpacked) close() {
	for _, d := range r.open {
		d.close()
	}
}

// link gives a file that was unpacked before another name.
func (r *unpacked) link(target []string, d *dir, names []string) error {
	path := strings.Join(target, "/")
	if !r.files[path] {
		return fmt.Errorf("%w: it is a link to what is no file of it", ErrArchive)
	}
	in := r.open[0]
	for _, name := range target[:len(target)-1] {
		next, err := in.sub(name)
		if in != r.open[0] {
			in.close()
		}
		if err != nil {
			return err
		}
		in = next
	}
	err := in.link(target[len(target)-1], d, names[len(names)-1])
	if in != r.open[0] {
		in.close()
	}
	return err
}

// finish gives the directories their times and permissions, those below first.
func (r *unpacked) finish() error {
	for i := len(r.dirs) - 1; i >= 0; i-- {
		w := r.dirs[i]
		d, err := r.enter(w.path)
		if err == nil {
			err = d.setOwnTimes(w.meta)
		}
		if err == nil && !w.root {
			err = d.setOwnMode(w.meta.perm)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", strings.Join(w.path, "/"), err)
		}
	}
	return nil
}
