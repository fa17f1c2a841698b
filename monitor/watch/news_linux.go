package watch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// serveNews calls each with the pid of every Serena that makes its log file
// below home (SERENA_HOME), which is logs/<date>/…_<pid>.txt, until ctx ends.
// home need not exist. It returns earlier when the system cannot tell; servers
// are then found by the next scan. Only made files are heard of: servers write
// to them all day, and each word would wake us.
//
// Source: inotify(7).
func serveNews(ctx context.Context, home string, each func(pid int)) error {
	fail := func(err error) error {
		return fmt.Errorf("hear of new log files below %s: %w", home, err)
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fail(err)
	}
	// Through the runtime's poller: no thread waits, and Close ends a Read.
	file := os.NewFile(uintptr(fd), "inotify")
	defer file.Close()
	defer context.AfterFunc(ctx, func() { file.Close() })()
	raw, err := file.SyscallConn()
	if err != nil {
		return fail(err)
	}

	buf := make([]byte, 16<<10)
	for {
		if err := raw.Control(func(fd uintptr) { hearOf(int(fd), home, time.Now()) }); err != nil && ctx.Err() == nil {
			return fail(err)
		}
		n, err := file.Read(buf)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fail(err)
		}
		for name := range inotifyNames(buf[:n]) {
			if pid, ok := pidOfLog(name); ok {
				each(pid)
			}
		}
	}
}

// hearOf watches the directories in which something may be made: where the log files
// are, and those above. They are made as they are needed, today's by the first
// server of the day. To watch one again changes nothing, and one that cannot be
// watched, mostly because it does not exist yet, is tried again after the next
// news.
func hearOf(fd int, home string, now time.Time) {
	add := func(dir string) error {
		_, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR)
		return err
	}
	logs := filepath.Join(home, "logs")
	if err := add(home); errors.Is(err, fs.ErrNotExist) && add(filepath.Dir(home)) == nil {
		_ = add(home) // it may just have been made
	}
	_ = add(logs)
	_ = add(filepath.Join(logs, now.Format(time.DateOnly)))
}

// inotifyNames reads the names in a buffer of inotify events.
func inotifyNames(buf []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(buf) >= unix.SizeofInotifyEvent {
			size := binary.NativeEndian.Uint32(buf[unix.SizeofInotifyEvent-4:])
			buf = buf[unix.SizeofInotifyEvent:]
			if uint64(size) > uint64(len(buf)) {
				return
			}
			name, _, _ := bytes.Cut(buf[:size], []byte{0})
			buf = buf[size:]
			if len(name) > 0 && !yield(string(name)) {
				return
			}
		}
	}
}

// pidOfLog reads the pid in the name of a Serena log file, such as
// mcp_20261121-101500_4711.txt.
func pidOfLog(name string) (int, bool) {
	stem, isText := strings.CutSuffix(name, ".txt")
	i := strings.LastIndexByte(stem, '_')
	if !isText || i < 0 {
		return 0, false
	}
	pid, err := strconv.Atoi(stem[i+1:])
	return pid, err == nil && pid > 0
}
