package api

import (
	"bytes"
	"reflect"
	"strconv"
	"sync"
	"time"

	"lamplighter/app/dashboard"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// sheetAge is how long an encoded snapshot is as good as new: what it counts in
// seconds is still right.
const sheetAge = time.Second

// sheet is the newest snapshot and the newest status as events, which all
// streams share. A row of them is encoded once for as long as it is the same.
type sheet struct {
	mu       sync.Mutex
	snapshot *monitor.Snapshot
	at       time.Time
	text     []byte
	rows     *view.Rows
	servers  rowTexts[*view.Server]

	newest Status
	told   []byte // the newest status; nil: none yet
	ended  rowTexts[dashboard.Ended]
}

// clear forgets what nobody reads any more.
func (s *sheet) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshot, s.text, s.servers = nil, nil, rowTexts[*view.Server]{}
	s.newest, s.told, s.ended = Status{}, nil, rowTexts[dashboard.Ended]{}
}

// status encodes a status. The text must not be changed.
func (s *sheet) status(newest Status) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told != nil && reflect.DeepEqual(s.newest, newest) {
		return s.told, nil
	}
	rest := newest
	rest.Ended = nil
	text, err := withRows("event: status\ndata: ", rest, "ended", &s.ended, newest.Ended, func(text, row []byte, _ dashboard.Ended) []byte {
		return append(text, row...)
	})
	if err != nil {
		return nil, err
	}
	s.newest, s.told = newest, text
	return s.told, nil
}

// event encodes a snapshot. The text must not be changed.
func (s *sheet) event(snapshot *monitor.Snapshot, now time.Time) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot == snapshot && now.Sub(s.at) < sheetAge {
		return s.text, nil
	}
	list := s.rows.Of(snapshot)
	text, err := withRows("data: ", instancesOf(snapshot, list, nil), "instances", &s.servers, list, func(text, row []byte, w *view.Server) []byte {
		idle, known := w.IdleFor(now) // which alone ages
		if !known {
			return append(text, row...)
		}
		before, after := cutNull(row, "idle_seconds")
		return append(strconv.AppendInt(append(text, before...), int64(idle/time.Second), 10), after...)
	})
	if err != nil {
		return nil, err
	}
	s.snapshot, s.at, s.text = snapshot, now, text
	return s.text, nil
}

// rowTexts are rows as JSON, each made once for as long as it is the same.
type rowTexts[R comparable] struct {
	made map[R][]byte
	size int // of the last event
}

// withRows is an event whose data is v, with rows in place of a member that is null there.
func withRows[R comparable](head string, v any, member string, known *rowTexts[R], rows []R, add func(text, row []byte, of R) []byte) ([]byte, error) {
	body, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	before, after := cutNull(body, member)
	text := make([]byte, 0, known.size+known.size/8+len(head)+len(body))
	text = append(append(append(text, head...), before...), '[')
	made := make(map[R][]byte, len(rows))
	for i, of := range rows {
		row := known.made[of]
		if row == nil {
			if row, err = Marshal(of); err != nil {
				return nil, err
			}
		}
		made[of] = row
		if i > 0 {
			text = append(text, ',')
		}
		text = add(text, row, of)
	}
	text = append(append(append(text, ']'), after...), "\n\n"...)
	known.made, known.size = made, len(text)
	return text, nil
}

// cutNull is the JSON of an object around the null of a member of its own: what looks the
// same within a string has a backslash before each quote.
func cutNull(object []byte, member string) (before, after []byte) {
	before, after, _ = bytes.Cut(object, []byte(`"`+member+`":null`))
	return object[:len(before)+len(member)+len(`"":`)], after
}
