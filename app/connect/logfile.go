package main

import (
	"os"
	"path/filepath"
)

// maxLog is how large the log becomes before it is renamed, in bytes.
const maxLog = 1 << 20

// logFile is DIR/output.log, with the part before it in DIR/output.log.1. What
// cannot be written is lost: a full disk must not hold up a server.
type logFile struct {
	dir  string
	file *os.File // nil when it could not be opened
	size int64
}

func (l *logFile) path() string { return filepath.Join(l.dir, "output.log") }

func (l *logFile) open() { l.openAs(os.O_APPEND) }

func (l *logFile) openAs(flag int) {
	file, err := os.OpenFile(l.path(), os.O_WRONLY|os.O_CREATE|flag, 0o600)
	if err != nil {
		return
	}
	l.file, l.size = file, 0
	if info, err := file.Stat(); err == nil {
		l.size = info.Size()
	}
}

// write appends p, which is no longer than maxLog.
func (l *logFile) write(p []byte) {
	if l.file == nil {
		l.open() // there may be room again
	}
	if l.size+int64(len(p)) > maxLog {
		l.turn()
	}
	if l.file == nil {
		return
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
}

// turn begins a new file.
func (l *logFile) turn() {
	l.close() // Windows renames no open file
	flag := os.O_APPEND
	if os.Rename(l.path(), l.path()+".1") != nil {
		flag |= os.O_TRUNC
	}
	l.openAs(flag)
}

func (l *logFile) close() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
