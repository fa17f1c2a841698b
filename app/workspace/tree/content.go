package tree

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// sameContent tells whether two files hold the same bytes from where they stand.
func sameContent(ctx context.Context, a, b *file) (bool, error) {
	one := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(one)
	two := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(two)
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		n, err := fill(a, one[:])
		if err != nil {
			return false, err
		}
		m, err := fill(b, two[:])
		if err != nil {
			return false, err
		}
		if !bytes.Equal(one[:n], two[:m]) {
			return false, nil
		}
		if n < bufferSize {
			return true, nil
		}
	}
}

// fill reads until the buffer is full or the file ends.
func fill(f *file, buf []byte) (int, error) {
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, nil
	}
	return n, err
}
