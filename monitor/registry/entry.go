package registry

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
)

// Entry is what the registry says about one instance. What a record does not
// say, or says in another type, is zero. Text is foreign: see monitor.Clean.
type Entry struct {
	PID           int
	Port          int       // of the dashboard
	StartedAt     time.Time // to the microsecond, as all times here
	LastHeartbeat time.Time
	Context       string
	Modes         []string
	ProjectName   string
	ProjectRoot   string
	State         monitor.State
}

// The names of the nine fields of a record, and of one more that the programs
// which write "zombie" themselves put beside them.
const (
	fieldPID         = "pid"
	fieldPort        = "port"
	fieldStarted     = "started_at"
	fieldHeartbeat   = "last_heartbeat"
	fieldContext     = "context"
	fieldModes       = "modes"
	fieldProjectName = "project_name"
	fieldProjectRoot = "project_root"
	fieldState       = "state"
	fieldZombieSince = "zombie_detected_at"
)

// label is the entry's name in events, as of an instance.
func (e Entry) label() string {
	in := monitor.Instance{Identity: monitor.Identity{PID: e.PID}, Kind: monitor.KindSerena, Port: e.Port, ProjectName: e.ProjectName}
	return in.Label()
}

// record is the entry in JSON, with the nine fields and no other: readers
// exist that fail as a whole on a tenth.
func (e Entry) record() json.RawMessage {
	modes := e.Modes
	if modes == nil {
		modes = []string{}
	}
	var o object
	o.set(fieldPID, literal(e.PID))
	o.set(fieldPort, literal(e.Port))
	o.set(fieldStarted, literal(seconds(e.StartedAt)))
	o.set(fieldHeartbeat, literal(seconds(e.LastHeartbeat)))
	o.set(fieldContext, orNull(e.Context))
	o.set(fieldModes, literal(modes))
	o.set(fieldProjectName, orNull(e.ProjectName))
	o.set(fieldProjectRoot, orNull(e.ProjectRoot))
	o.set(fieldState, literal(string(e.State)))
	return o.json()
}

func orNull(s string) json.RawMessage {
	if s == "" {
		return json.RawMessage("null")
	}
	return literal(s)
}

// parseEntry reads a record. It is not ok when the record is no object or does
// not say whose it is; key is the pid that its place says, 0 for none.
func parseEntry(value json.RawMessage, key int) (e Entry, ok bool) {
	o, err := parseObject(value)
	if err != nil {
		return Entry{}, false
	}
	e = Entry{
		PID:           key,
		StartedAt:     parseSeconds(o.get(fieldStarted)),
		LastHeartbeat: parseSeconds(o.get(fieldHeartbeat)),
		Context:       parseString(o.get(fieldContext)),
		ProjectName:   parseString(o.get(fieldProjectName)),
		ProjectRoot:   parseString(o.get(fieldProjectRoot)),
		State:         monitor.State(parseString(o.get(fieldState))),
	}
	if port, ok := parseWhole(o.get(fieldPort)); ok && port <= math.MaxUint16 {
		e.Port = port
	}
	if raw := o.get(fieldModes); raw != nil {
		if list, err := parseArray(raw); err == nil {
			for _, m := range list {
				if s := parseString(m); s != "" {
					e.Modes = append(e.Modes, s)
				}
			}
		}
	}
	if raw := o.get(fieldPID); raw != nil {
		pid, ok := parseWhole(raw)
		if !ok || (key != 0 && pid != key) {
			return Entry{}, false
		}
		e.PID = pid
	}
	return e, e.PID > 0
}

// parseWhole reads a number from 1 to the largest pid of any system.
func parseWhole(raw json.RawMessage) (int, bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || f < 1 || f > math.MaxUint32 {
		return 0, false
	}
	return int(f), true
}

func parseString(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// seconds is a time as the registry writes it: seconds since the epoch with a
// fraction, never without a point.
type seconds time.Time

// MarshalJSON implements json.Marshaler.
func (s seconds) MarshalJSON() ([]byte, error) {
	text := strconv.FormatFloat(float64(time.Time(s).UnixMicro())/1e6, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return []byte(text), nil
}

// farthest is how far from the epoch a time may be, in seconds. What lies
// beyond, up to numbers that no float holds, is taken to be there.
const farthest = 1e11

// parseSeconds reads a time, zero when there is none.
func parseSeconds(raw json.RawMessage) time.Time {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // which comes with ±Inf
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(min(max(f, -farthest), farthest) * 1e6)))
}
