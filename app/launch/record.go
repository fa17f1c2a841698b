package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"lamplighter/monitor"
)

// recordVersion is the version of the records that are written; no other one
// is read.
const recordVersion = 1

// maxRecord is how much of a record is read. A command line has the largest
// part in it.
const maxRecord = 1 << 20

// record is what is kept on disk of a server, so that the next run of this
// program can adopt it or end it. It is written before anything is started,
// again when the keeper runs, and again before the server counts as ready.
type record struct {
	Version       int       `json:"version"`
	ID            string    `json:"id"` // the value of the mark in the environment of all of it
	Lifetime      Lifetime  `json:"lifetime"`
	BootID        string    `json:"boot_id"` // "" when the system does not tell
	Keeper        string    `json:"keeper"`  // PID-START, "" when none runs yet
	Server        string    `json:"server"`  // PID-START, "" when it is not ready
	Port          int       `json:"port"`
	DashboardPort int       `json:"dashboard_port"`
	Path          string    `json:"path"` // of MCP
	Project       string    `json:"project"`
	Name          string    `json:"name"` // of the template
	Kind          string    `json:"kind"`
	Command       []string  `json:"command"`
	Key           string    `json:"key"`
	StartedAt     time.Time `json:"started_at"`
	AskedBy       *asker    `json:"asked_by"`
}

// asker is the client in a record.
type asker struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
	Name  string `json:"name"`
}

func askerOf(c monitor.Client) *asker {
	if c.PID <= 0 && c.Name == "" {
		return nil
	}
	return &asker{PID: c.PID, Start: c.Start, Name: c.Name}
}

func (r *record) client() monitor.Client {
	if r.AskedBy == nil {
		return monitor.Client{}
	}
	return monitor.Client{Identity: monitor.Identity{PID: r.AskedBy.PID, Start: r.AskedBy.Start}, Name: monitor.Clean(r.AskedBy.Name)}
}

// identities are the processes that the record names.
func (r *record) identities() identities {
	var ids identities
	ids.keeper, _ = parseOptional(r.Keeper) // checked by parseRecord
	ids.server, _ = parseOptional(r.Server)
	return ids
}

// errRecord says that a file cannot be a record.
var errRecord = errors.New("it is no record of a server")

func formatRecord(r record) ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// parseRecord reads a record that lay in the directory of that id.
func parseRecord(id string, text []byte) (record, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, err
	}
	switch {
	case r.Version != recordVersion:
		return record{}, fmt.Errorf("it has version %d, and %d is known", r.Version, recordVersion)
	case r.ID != id:
		return record{}, errors.New("it is that of another server")
	case r.Lifetime != Session && r.Lifetime != Shared:
		return record{}, fmt.Errorf("there is no lifetime %.20q", r.Lifetime)
	case !isPort(r.Port) || !isPort(r.DashboardPort):
		return record{}, errors.New("it names a port that does not exist")
	}
	for _, text := range []string{r.Keeper, r.Server} {
		if _, err := parseOptional(text); err != nil {
			return record{}, err
		}
	}
	if r.Server != "" && (r.Keeper == "" || r.Port == 0) {
		return record{}, errors.New("it names a server without its keeper or its port")
	}
	return r, nil
}

func isPort(n int) bool { return n >= 0 && n <= 65535 }

// parseOptional reads an identity that may be missing.
func parseOptional(text string) (monitor.Identity, error) {
	if text == "" {
		return monitor.Identity{}, nil
	}
	return monitor.ParseIdentity(text)
}

// projectName is what to call a project before its server tells its own name.
func projectName(project string) string {
	if name := filepath.Base(project); name != "." && name != string(filepath.Separator) {
		return name
	}
	return ""
}
