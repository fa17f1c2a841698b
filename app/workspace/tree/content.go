package tree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
)

// span is a part of a file, from begin up to end.
type span struct{ begin, end int64 }

// sameFiles reports whether two files of one size, which stand at their beginnings,
// hold the same bytes. What is a hole in both is not read.
func sameFiles(ctx context.Context, a, b *file, am, bm meta) (bool, error) {
	if am.taken >= am.size && bm.taken >= bm.size {
		return samePart(ctx, a, b, 1<<62)
	}
	var parts []span
	for _, f := range []*file{a, b} {
		if err := f.ranges(am.size, func(begin, end int64) error {
			parts = append(parts, span{begin, end})
			return nil
		}); err != nil {
			return false, err
		}
	}
	for _, part := range union(parts) {
		if err := errors.Join(a.seek(part.begin), b.seek(part.begin)); err != nil {
			return false, err
		}
		if same, err := samePart(ctx, a, b, part.end-part.begin); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// union is the same without what is there twice, sorted.
func union(parts []span) []span {
	slices.SortFunc(parts, func(x, y span) int { return cmp.Compare(x.begin, y.begin) })
	var list []span
	for _, part := range parts {
		if last := len(list) - 1; last >= 0 && part.begin <= list[last].end {
			list[last].end = max(list[last].end, part.end)
			continue
		}
		list = append(list, part)
	}
	return list
}

// samePart reports whether two files hold the same bytes from where they stand, up to
// a length.
func samePart(ctx context.Context, a, b *file, length int64) (bool, error) {
	one := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(one)
	two := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(two)
	for length > 0 {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		some := min(length, bufferSize)
		n, err := fill(a, one[:some])
		if err != nil {
			return false, err
		}
		m, err := fill(b, two[:some])
		if err != nil {
			return false, err
		}
		if !bytes.Equal(one[:n], two[:m]) {
			return false, nil
		}
		if int64(n) < some {
			return true, nil
		}
		length -= some
	}
	return true, nil
}

// fill reads until the buffer is full or the file ends.
func fill(f *file, buf []byte) (int, error) {
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, nil
	}
	return n, err
}
