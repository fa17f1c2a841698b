package launch

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"lamplighter/monitor/plainfile"
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

// isID tells whether a name is one that newID makes. What is named otherwise is
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

// writeRecord replaces the record in dir as a whole: a reader sees the old one
// or the new one. It is not forced onto the disk, because after a power failure
// nothing that it names runs any more.
func writeRecord(dir string, r *record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	next := filepath.Join(dir, recordFile+".new")
	if err := os.WriteFile(next, append(text, '\n'), 0o600); err != nil {
		os.Remove(next)
		return err
	}
	return plainfile.Rename(next, filepath.Join(dir, recordFile))
}

// readRecord reads the record of a server by its id.
func readRecord(dir, id string) (record, error) {
	text, err := readFile(filepath.Join(dir, recordFile), maxRecord)
	if err != nil {
		return record{}, err
	}
	return parseRecord(id, text)
}

// isUnreadable tells whether a record could not be read for a reason that may
// pass, such as too many open files or a disk that does not answer. One that is
// missing or makes no sense stays as it is.
func isUnreadable(err error) bool {
	var system syscall.Errno
	return errors.As(err, &system) && !errors.Is(err, fs.ErrNotExist)
}

// readFile reads a plain file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	text, err := plainfile.Read(path, limit)
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return text, nil
}
