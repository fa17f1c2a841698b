package tree

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
)

// file unpacks a regular file.
func (u *unpacker) file(in io.Reader, h *tar.Header, d *dir, name string) error {
	f, err := d.create(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.close() }()
	if h.PAXRecords[holes] != "" {
		err = u.sparse(f, in, h.Size)
	} else {
		err = u.blocks(in, h.Size, func(block []byte) error {
			_, err := f.Write(block)
			return err
		})
	}
	if err != nil {
		return err
	}
	m := metaOfHeader(h)
	return d.settle(name, f, m.perm, m)
}

// sparse writes a file with holes where it has zeros.
func (u *unpacker) sparse(f *file, r io.Reader, size int64) error {
	const page = 4096
	var zero [page]byte
	at := int64(0)
	err := u.blocks(r, size, func(block []byte) error {
		for len(block) > 0 {
			part := block[:min(page, len(block))]
			if !bytes.Equal(part, zero[:len(part)]) {
				if err := f.seek(at); err != nil {
					return err
				}
				if _, err := f.Write(part); err != nil {
					return err
				}
			}
			at += int64(len(part))
			block = block[len(part):]
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.truncate(size)
}

// blocks hands on what is read, in full buffers but for the last one.
func (u *unpacker) blocks(r io.Reader, size int64, do func([]byte) error) error {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	for size > 0 {
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
		block := buf[:min(bufferSize, size)]
		if _, err := io.ReadFull(r, block); err != nil {
			return fmt.Errorf("%w (%w)", ErrArchive, err)
		}
		if err := do(block); err != nil {
			return err
		}
		size -= int64(len(block))
		u.tally.add(0, int64(len(block)))
	}
	return nil
}
