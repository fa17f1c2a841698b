package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/api"
)

func TestJudgeSocket(t *testing.T) {
	mine := entry{mode: fs.ModeSocket | 0o600, owner: 7, us: 7, exists: true}
	dir := entry{mode: fs.ModeDir | 0o700, owner: 7, us: 7, exists: true}
	absent := entry{err: fs.ErrNotExist, owner: -1, us: 7}
	refused := fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	well := fileFacts{socket: "/run/l/s", runs: true, socketIs: mine, socketDir: dir}
	for name, test := range map[string]struct {
		change func(*fileFacts)
		mark   Mark
		want   string
	}{
		"well":         {func(*fileFacts) {}, OK, "answers, and is yours alone"},
		"no place":     {func(f *fileFacts) { *f = fileFacts{} }, Broken, "has no place"},
		"too long":     {func(f *fileFacts) { f.runs, f.reach = false, api.ErrPathTooLong }, Broken, "too long"},
		"not absolute": {func(f *fileFacts) { f.runs, f.reach = false, api.ErrNotAbsolute }, Broken, "short absolute path"},
		"wide":         {func(f *fileFacts) { f.socketIs.mode = fs.ModeSocket | 0o666 }, Warn, "mode 0666"},
		"absent":       {func(f *fileFacts) { f.runs, f.reach, f.socketIs = false, fs.ErrNotExist, absent }, OK, "nobody serves it"},
		"left behind":  {func(f *fileFacts) { f.runs, f.reach = false, refused }, OK, "the next start replaces it"},
		"not a socket": {func(f *fileFacts) { f.runs, f.reach, f.socketIs.mode = false, refused, 0o600 }, Broken, "not a socket"},
		"another's":    {func(f *fileFacts) { f.runs, f.reach, f.socketIs.owner = false, errors.New("x"), 8 }, Broken, "belongs to user id 8"},
		"unreadable": {func(f *fileFacts) {
			f.runs, f.socketIs = false, entry{err: &fs.PathError{Op: "lstat", Path: "x", Err: syscall.EACCES}}
		}, Broken, syscall.EACCES.Error()},
		"another's directory": {func(f *fileFacts) { f.socketDir.owner = 8 }, Broken, "belongs to user id 8"},
		"sticky, of root":     {func(f *fileFacts) { f.socketDir.owner, f.socketDir.mode = 0, fs.ModeDir|fs.ModeSticky|0o777 }, OK, "yours alone"},
		"open directory":      {func(f *fileFacts) { f.socketDir.mode = fs.ModeDir | 0o777 }, Broken, "others may write to the directory"},
		"directory is a file": {func(f *fileFacts) { f.socketDir.mode = 0o600 }, Broken, "is not a directory"},
		"pipe":                {func(f *fileFacts) { *f = fileFacts{socket: `\\.\pipe\x`, pipe: true, runs: true} }, OK, `control pipe \\.\pipe\x answers`},
		"no pipe":             {func(f *fileFacts) { *f = fileFacts{socket: `\\.\pipe\x`, pipe: true, reach: fs.ErrNotExist} }, OK, "nobody serves it"},
	} {
		f := well
		test.change(&f)
		lines := judgeSocket(f)
		if got := worst(lines); got != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: %s, want %s with %q:\n%s", name, got, test.mark, test.want, said(lines))
		}
	}
}

func TestJudgeState(t *testing.T) {
	dir := entry{mode: fs.ModeDir | 0o700, owner: 7, us: 7, exists: true}
	well := fileFacts{state: "/h/lamplighter", nearest: "/h/lamplighter", stateIs: dir, free: space{bytes: 50 << 30}}
	for name, test := range map[string]struct {
		change func(*fileFacts)
		mark   Mark
		want   string
	}{
		"well":      {func(*fileFacts) {}, OK, "the disk has 54 GB free"},
		"no place":  {func(f *fileFacts) { *f = fileFacts{} }, Broken, "has no place"},
		"not there": {func(f *fileFacts) { f.stateIs, f.nearest = entry{err: fs.ErrNotExist}, "/h" }, OK, "it can be made"},
		"cannot be made": {func(f *fileFacts) {
			f.stateIs, f.nearest, f.writable = entry{err: fs.ErrNotExist}, "/h", syscall.EACCES
		}, Broken, "cannot be made: /h: " + syscall.EACCES.Error()},
		"read-only":       {func(f *fileFacts) { f.writable = syscall.EROFS }, Broken, "nothing can be written to"},
		"another's":       {func(f *fileFacts) { f.stateIs.owner = 8 }, Broken, "belongs to user id 8"},
		"a file":          {func(f *fileFacts) { f.stateIs.mode = 0o600 }, Broken, "is not a directory"},
		"hidden":          {func(f *fileFacts) { f.stateIs = entry{err: fs.ErrPermission} }, Broken, "cannot be looked at"},
		"readable":        {func(f *fileFacts) { f.stateIs.mode = fs.ModeDir | 0o755 }, Warn, "mode 0755, not 0700"},
		"others' to fill": {func(f *fileFacts) { f.stateIs.mode, f.state = fs.ModeDir|0o777, "/h/x" }, Broken, "others may write"},
		"no inodes":       {func(f *fileFacts) { f.free.noFiles = true }, Broken, "inodes"},
		"full":            {func(f *fileFacts) { f.free.bytes = 1 << 20 }, Broken, "the disk is full: 1.0 MB"},
		"nearly full":     {func(f *fileFacts) { f.free.bytes = 100 << 20 }, Warn, "nearly full: 105 MB"},
		"room unknown":    {func(f *fileFacts) { f.free = space{err: syscall.EIO} }, Warn, "not known"},
		"room not told":   {func(f *fileFacts) { f.free = space{err: errors.ErrUnsupported} }, OK, "can be written to"},
	} {
		f := well
		test.change(&f)
		lines := judgeState(f)
		if got := worst(lines); got != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: %s, want %s with %q:\n%s", name, got, test.mark, test.want, said(lines))
		}
	}
}

func TestFreeSpaceAndWritable(t *testing.T) {
	dir := t.TempDir()
	if s := freeSpace(dir); s.err != nil || s.bytes == 0 || s.noFiles {
		t.Errorf("got %+v", s)
	}
	if err := writable(dir); err != nil {
		t.Error(err)
	}
	if writable(dir+"/none") == nil || freeSpace(dir+"/none").err == nil {
		t.Error("a directory that is not there is fine")
	}
	if got := nearest(dir + "/a/b/c"); got != dir {
		t.Errorf("got %s, want %s", got, dir)
	}
	if runtime.GOOS == "linux" {
		if err := writable("/proc/self"); err == nil {
			t.Error("files can be made in /proc")
		}
	}
}
