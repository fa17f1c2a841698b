package launch

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"lamplighter/monitor/statefile"
)

// The names below the state directory.
const (
	serversDir = "servers"
	recordFile = "record.json"
	outputFile = "output.log"
	portFile   = "port"
	serverFile = "server" // PID-START, for the keeper
)

// newID makes a random UUID (RFC 9562, version 4).
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // which never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// isID reports whether a name is one that newID makes. What is named otherwise is
// not ours to touch.
func isID(name string) bool {
	if len(name) != 36 {
		return false
	}
	for i, c := range name {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !strings.ContainsRune("0123456789abcdef", c) {
				return false
			}
		}
	}
	return true
}

// recordIn is the record of a server in its directory.
func recordIn(dir, id string) statefile.File[record] {
	return statefile.File[record]{
		Path: filepath.Join(dir, recordFile), Limit: maxRecord, Broken: errRecord,
		Parse:  func(text []byte) (record, error) { return parseRecord(id, text) },
		Format: formatRecord,
	}
}

func writeRecord(dir string, r *record) error { return recordIn(dir, r.ID).Write(*r) }

func readRecord(dir, id string) (record, error) { return recordIn(dir, id).Read() }

// isUnreadable reports whether a record could not be read for a reason that may
// pass, such as too many open files or a disk that does not answer. One that is
// missing or makes no sense stays as it is.
func isUnreadable(err error) bool {
	var system syscall.Errno
	return errors.As(err, &system) && !errors.Is(err, fs.ErrNotExist)
}
