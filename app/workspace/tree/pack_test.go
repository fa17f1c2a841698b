package tree

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// repacked packs a directory and unpacks it into another one.
func repacked(t testing.TB, from, to string) Count {
	t.Helper()
	var archive bytes.Buffer
	packed, err := Pack(t.Context(), &archive, map[string]string{"tree": from}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	verified, err := Unpack(t.Context(), bytes.NewReader(archive.Bytes()), nil, packed.Bytes, nil)
	if err != nil || verified != packed {
		t.Errorf("verified %+v of %+v, %v", verified, packed, err)
	}
	unpacked, err := Unpack(t.Context(), &archive, map[string]string{"tree": to}, packed.Bytes, nil)
	if err != nil || unpacked != packed {
		t.Errorf("unpacked %+v of %+v, %v", unpacked, packed, err)
	}
	return packed
}

func TestPack(t *testing.T) {
	for name, list := range map[string][]string{
		"nothing": nil, "everyday": everyday, "many": many(500),
		"long names": {strings.Repeat("n", 255) + "/" + strings.Repeat("m", 255) + "=1"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := newDir(t), newDir(t)
			plant(t, from, list...)
			want := picture(t, from)
			if packed := repacked(t, from, to); packed.Files != int64(len(want)-1) {
				t.Errorf("packed %+v of %d", packed, len(want)-1)
			}
			samePicture(t, want, picture(t, to))
		})
	}
}

func TestPackSeveral(t *testing.T) {
	one, two, to := newDir(t), newDir(t), newDir(t)
	plant(t, one, "a=1", "skipped/x=2")
	plant(t, two, "b=1", "c=2")
	var archive bytes.Buffer
	skip := func(path string) bool { return path == "skipped" || path == "c" }
	packed, err := Pack(t.Context(), &archive, map[string]string{"tree": one, "versions": two}, Options{Skip: skip})
	if err != nil || packed.Files != 2 {
		t.Fatalf("%+v, %v", packed, err)
	}
	data := archive.Bytes()
	if _, err := Unpack(t.Context(), bytes.NewReader(data), map[string]string{"versions": to}, -1, nil); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(picture(t, to))); !slices.Equal(got, []string{".", "b"}) {
		t.Errorf("there is %q", got)
	}
	if _, err := Unpack(t.Context(), bytes.NewReader(data), map[string]string{"versions": to}, -1, nil); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into a full directory: %v", err)
	}
}

func TestPackIsCancelled(t *testing.T) {
	from := newDir(t)
	plant(t, from, many(10)...)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	var archive bytes.Buffer
	if _, err := Pack(ctx, &archive, map[string]string{"tree": from}, Options{}); !errors.Is(err, why) {
		t.Error(err)
	}
	if _, err := Unpack(t.Context(), &archive, nil, -1, nil); !errors.Is(err, ErrArchive) {
		t.Errorf("half an archive: %v", err)
	}
}

// failing is a disk that is full after a while.
type failing struct{ left int }

var errFull = errors.New("the disk is full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestPackOnAFullDisk(t *testing.T) {
	from := newDir(t)
	plant(t, from, many(500)...)
	for _, room := range []int{0, 100, 1000} {
		if _, err := Pack(t.Context(), &failing{room}, map[string]string{"tree": from}, Options{}); !errors.Is(err, errFull) {
			t.Errorf("room for %d: %v", room, err)
		}
	}
}

// Any part of an archive is none, and one with a changed byte is none or the same.
func TestUnpackOfTheDamaged(t *testing.T) {
	from := newDir(t)
	plant(t, from, "a/f=some content", "g=more")
	var archive bytes.Buffer
	if _, err := Pack(t.Context(), &archive, map[string]string{"tree": from}, Options{}); err != nil {
		t.Fatal(err)
	}
	whole := archive.Bytes()
	for n := range len(whole) {
		if _, err := Unpack(t.Context(), bytes.NewReader(whole[:n]), nil, -1, nil); !errors.Is(err, ErrArchive) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
		other := slices.Clone(whole)
		other[n] ^= 0x40
		to := filepath.Join(newDir(t), "to")
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Unpack(t.Context(), bytes.NewReader(other), map[string]string{"tree": to}, 1000, nil); err == nil {
			if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
				t.Errorf("byte %d changed: %v, %v", n, found, err)
			}
		}
	}
	if _, err := Unpack(t.Context(), io.MultiReader(bytes.NewReader(whole), strings.NewReader("more")), nil, -1, nil); !errors.Is(err, ErrArchive) {
		t.Errorf("with something behind: %v", err)
	}
}

// tarOf is an archive that nobody of us has packed.
func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var archive bytes.Buffer
	compressed, err := zstd.NewWriter(&archive)
	if err != nil {
		t.Fatal(err)
	}
	out := tar.NewWriter(compressed)
	for _, h := range headers {
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(bytes.Repeat([]byte("x"), int(h.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func dirHeader(name string) tar.Header { return tar.Header{Name: name + "/", Typeflag: tar.TypeDir} }

func fileHeader(name string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 3}
}

func TestUnpackOfTheHostile(t *testing.T) {
	outside := newDir(t)
	plant(t, outside, "file=1")
	root := dirHeader("tree")
	link := func(name, to string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}
	}
	hard := func(name, to string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: to}
	}
	for name, c := range map[string]struct {
		list []tar.Header
		want error // nil: it is unpacked
	}{
		"dots":                     {[]tar.Header{root, fileHeader("tree/../../f")}, ErrArchive},
		"dots alone":               {[]tar.Header{root, dirHeader("tree/..")}, ErrArchive},
		"dot":                      {[]tar.Header{root, fileHeader("tree/./f")}, ErrArchive},
		"absolute":                 {[]tar.Header{root, fileHeader("/tree/f")}, ErrArchive},
		"absolute elsewhere":       {[]tar.Header{fileHeader(filepath.ToSlash(outside) + "/f")}, ErrArchive},
		"two slashes":              {[]tar.Header{root, fileHeader("tree//f")}, ErrArchive},
		"no directory":             {[]tar.Header{fileHeader("tree")}, ErrArchive},
		"through a link":           {[]tar.Header{root, link("tree/l", outside), fileHeader("tree/l/f")}, ErrArchive},
		"into a link":              {[]tar.Header{root, link("tree/l", outside+"/file"), fileHeader("tree/l")}, ErrArchive},
		"a directory that is link": {[]tar.Header{root, link("tree/l", outside), dirHeader("tree/l")}, ErrArchive},
		"a link for the root":      {[]tar.Header{link("tree", outside), fileHeader("tree/f")}, ErrArchive},
		"another name of outside":  {[]tar.Header{root, hard("tree/h", outside+"/file")}, ErrArchive},
		"another name above":       {[]tar.Header{root, hard("tree/h", "../file")}, ErrArchive},
		"another name by a link":   {[]tar.Header{root, link("tree/l", outside), hard("tree/h", "tree/l/file")}, ErrArchive},
		"another name of a link":   {[]tar.Header{root, link("tree/l", outside+"/file"), hard("tree/h", "tree/l")}, ErrArchive},
		"another directory's":      {[]tar.Header{root, dirHeader("other"), fileHeader("other/f"), hard("tree/h", "other/f")}, ErrArchive},
		"another name of none":     {[]tar.Header{root, hard("tree/h", "tree/none")}, ErrArchive},
		"twice":                    {[]tar.Header{root, fileHeader("tree/f"), fileHeader("tree/f")}, ErrArchive},
		"a device":                 {[]tar.Header{root, {Name: "tree/d", Typeflag: tar.TypeChar, Devmajor: 1}}, ErrArchive},
		"a pipe":                   {[]tar.Header{root, {Name: "tree/p", Typeflag: tar.TypeFifo}}, ErrArchive},
		"without its directory":    {[]tar.Header{root, fileHeader("tree/d/f")}, ErrArchive},
		"in a file":                {[]tar.Header{root, fileHeader("tree/f"), fileHeader("tree/f/g")}, ErrArchive},
		"too deep":                 {[]tar.Header{root, fileHeader("tree" + strings.Repeat("/d", mostDepth) + "/f")}, ErrArchive},
		"too large":                {[]tar.Header{root, {Name: "tree/f", Typeflag: tar.TypeReg, Size: 1001}}, ErrTooLarge},
		"too large together":       {[]tar.Header{root, {Name: "other/f", Typeflag: tar.TypeReg, Size: 600}, {Name: "tree/f", Typeflag: tar.TypeReg, Size: 600}}, ErrTooLarge},
		"nothing":                  {nil, ErrArchive},
		"other names":              {[]tar.Header{root, dirHeader("other"), fileHeader("other/f"), fileHeader("tree/f")}, nil},
		"bits beyond":              {[]tar.Header{root, {Name: "tree/s", Typeflag: tar.TypeReg, Mode: 0o6755}}, nil},
		"the root twice":           {[]tar.Header{root, fileHeader("tree/f"), root}, nil},
	} {
		if !unixLike && slices.ContainsFunc(c.list, func(h tar.Header) bool { return h.Typeflag == tar.TypeSymlink }) {
			continue // few may make links there
		}
		t.Run(name, func(t *testing.T) {
			parent := newDir(t)
			to := filepath.Join(parent, "to")
			if err := os.Mkdir(to, 0o700); err != nil {
				t.Fatal(err)
			}
			data := tarOf(t, c.list...)
			_, err := Unpack(t.Context(), bytes.NewReader(data), map[string]string{"tree": to}, 1000, nil)
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if there, err := os.ReadDir(parent); err != nil || len(there) != 1 {
				t.Errorf("%q, %v", there, err)
			}
			if data, err := os.ReadFile(filepath.Join(outside, "file")); err != nil || string(data) != "1" {
				t.Errorf("%q, %v", data, err)
			}
			if there, err := os.ReadDir(outside); err != nil || len(there) != 1 {
				t.Errorf("%q, %v", there, err)
			}
			if info, err := os.Lstat(filepath.Join(to, "s")); err == nil && info.Mode()&os.ModeSetuid != 0 {
				t.Error("it got more than permissions")
			}
		})
	}
}

// A small archive that says that it holds much is given up at the limit.
func TestUnpackOfABomb(t *testing.T) {
	var archive bytes.Buffer
	compressed, err := zstd.NewWriter(&archive)
	if err != nil {
		t.Fatal(err)
	}
	out := tar.NewWriter(compressed)
	const each = 4 << 20
	for i := range 16 {
		if err := out.WriteHeader(&tar.Header{Name: fmt.Sprint("tree/", i), Typeflag: tar.TypeReg, Size: each}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(out, zeros{}, each); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	to := newDir(t)
	got, err := Unpack(t.Context(), &archive, map[string]string{"tree": to}, each+1000, nil)
	if !errors.Is(err, ErrTooLarge) || got.Bytes > each+1000 {
		t.Errorf("%+v, %v", got, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
