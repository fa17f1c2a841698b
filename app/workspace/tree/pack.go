package tree

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// holes is the PAX record of a file that had holes. Its content is in the archive
// as it reads, so that any tar can unpack it; Unpack makes holes of zeros again.
const holes = "LAMPLIGHTER.holes"

// ErrBusyTree says that a tree was written to while it was packed.
var ErrBusyTree = errors.New("it was written to meanwhile; try again when nothing works there")

// Pack writes the directories, each under its name, as a tar compressed with zstd
// (RFC 8878; pax as in POSIX.1-2017). Skip of o is asked for paths below each of the
// directories. Base and ReadOnly are not looked at. Modes, times, links and holes are kept, hard links inside of each directory too; what
// is neither file, directory nor link is left out. A file that changes while it is read is
// an ErrBusyTree, because whoever packs means to remove. As many directories are open at
// a time as the tree is deep.
func Pack(ctx context.Context, w io.Writer, dirs map[string]string, o Options) (Count, error) {
	p := &packer{ctx: ctx, o: o}
	p.tally.tell = o.Progress
	compressed, err := zstd.NewWriter(w)
	if err != nil {
		return Count{}, fmt.Errorf("packing: %w", err)
	}
	p.tar = tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		if err = p.root(name, dirs[name]); err != nil {
			break
		}
	}
	if err == nil {
		err = p.tar.Close()
	}
	if err != nil {
		compressed.Reset(io.Discard) // what is not whole gets no end
	}
	err = errors.Join(err, compressed.Close())
	if err != nil {
		err = fmt.Errorf("packing: %w", err)
	}
	return p.tally.end(), err
}

type packer struct {
	ctx   context.Context // of one Pack
	o     Options
	tar   *tar.Writer
	tally tally
	first map[fileID]string // of files with several names, in one directory
}

func (p *packer) root(name, path string) error {
	if !plain(name) {
		return fmt.Errorf("%q cannot be the name of a directory in an archive", name)
	}
	d, err := openDir(path)
	if err != nil {
		return err
	}
	defer d.close()
	p.first = map[fileID]string{}
	return p.directory(d, name, true)
}

func (p *packer) directory(d *dir, path string, root bool) error {
	m, err := d.stat()
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	if err := p.tar.WriteHeader(header(path+"/", tar.TypeDir, m)); err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	if !root {
		p.tally.add(1, 0)
	}
	entries, err := d.entries()
	if err != nil && !vanished(err) {
		return fmt.Errorf("%q: %w", path, err)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range entries {
		at := path + "/" + e.name
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		if _, below, _ := strings.Cut(at, "/"); p.o.skips(below) {
			continue
		}
		m, err := d.lstat(e.name)
		switch {
		case err != nil:
		case m.kind == directory:
			var sub *dir
			if sub, err = d.sub(e.name); err == nil {
				err = p.directory(sub, at, false)
				sub.close()
				if err != nil {
					return err
				}
			}
		case m.kind == link:
			err = p.link(d, e.name, at, m)
		case m.kind == regular:
			err = p.file(d, e.name, at)
		}
		if err != nil && !vanished(err) {
			return fmt.Errorf("%q: %w", at, err)
		}
	}
	return nil
}

func header(name string, what byte, m meta) *tar.Header {
	return &tar.Header{
		Name: name, Typeflag: what, Mode: int64(m.perm), ModTime: m.mtime.time(),
		Format: tar.FormatPAX, // keeps all of a time, and any name
	}
}

func (p *packer) link(d *dir, name, at string, m meta) error {
	target, err := d.readlink(name)
	if err != nil {
		return err
	}
	h := header(at, tar.TypeSymlink, m)
	h.Linkname = target
	p.tally.add(1, 0)
	return p.tar.WriteHeader(h)
}

func (p *packer) file(d *dir, name, at string) error {
	f, m, err := d.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.close() }()
	if m.links > 1 {
		if first, ok := p.first[m.id]; ok {
			h := header(at, tar.TypeLink, m)
			h.Linkname = first
			p.tally.add(1, 0)
			return asMade(p.tar.WriteHeader(h))
		}
		p.first[m.id] = at
	}
	h := header(at, tar.TypeReg, m)
	h.Size = m.size
	sparse := m.taken < m.size
	if sparse {
		h.PAXRecords = map[string]string{holes: "1"}
	}
	if err := p.tar.WriteHeader(h); err != nil {
		return asMade(err)
	}
	done := int64(0)
	write := func(from, to int64) error {
		if err := p.zeros(from - done); err != nil {
			return err
		}
		done = to
		return p.part(f, from, to)
	}
	if sparse {
		err = f.ranges(m.size, write)
		if err == nil {
			err = p.zeros(m.size - done)
		}
	} else {
		err = write(0, m.size)
	}
	if err != nil {
		return asMade(err)
	}
	after, err := f.stat()
	if err == nil && (after.mtime != m.mtime || after.size != m.size) {
		err = ErrBusyTree
	}
	if err != nil {
		return asMade(err)
	}
	p.tally.add(1, 0)
	return nil
}

// asMade is an error after which the archive is broken, whatever its reason.
func asMade(err error) error {
	if err == nil {
		return nil
	}
	return damaged{err}
}

// zeros writes a hole.
func (p *packer) zeros(n int64) error {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	clear(buf[:])
	for n > 0 {
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		some := min(n, bufferSize)
		if _, err := p.tar.Write(buf[:some]); err != nil {
			return err
		}
		p.tally.add(0, some)
		n -= some
	}
	return nil
}

// part writes a part of a file.
func (p *packer) part(f *file, from, to int64) error {
	if from == to {
		return nil
	}
	if err := f.seek(from); err != nil {
		return err
	}
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	for from < to {
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		n, err := f.Read(buf[:min(bufferSize, to-from)])
		if errors.Is(err, io.EOF) {
			return ErrBusyTree
		}
		if err != nil {
			return err
		}
		if _, err := p.tar.Write(buf[:n]); err != nil {
			return err
		}
		p.tally.add(0, int64(n))
		from += int64(n)
	}
	return nil
}

// permOf are the permissions in a header of an archive.
func permOf(h *tar.Header) fs.FileMode { return fs.FileMode(h.Mode) & 0o777 }
