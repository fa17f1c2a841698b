package launch

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/google/uuid"

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

// isID reports whether a name is one that uuid.NewString makes. What is named otherwise
// is not ours to touch.
func isID(name string) bool {
	id, err := uuid.Parse(name)
	return err == nil && id.String() == name
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
