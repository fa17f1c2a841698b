package workspace

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"lamplighter/monitor/plainfile"
)

// makingPause is between two notes of how far something has come.
const makingPause = 500 * time.Millisecond

// makingLimit bounds what is read of such a note.
const makingLimit = 1 << 16

func (s store) makingPath(id string) string { return s.path(makingDir, id+".json") }

// telling writes down how far an operation on a workspace has come, for other
// processes, and tells progress, which may be nil. The caller holds the
// workspace's lock until it has called end: the note counts as long as it is held.
// That it cannot be written is no reason to give up what is done.
func (m *Manager) telling(w Workspace, progress func(Progress)) (tell func(Progress), end func()) {
	var mu sync.Mutex
	var last time.Time
	var phase Phase
	path := m.store.makingPath(w.ID)
	tell = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if progress != nil {
			progress(p)
		}
		at := time.Now()
		if p.Phase == phase && at.Sub(last) < makingPause {
			return
		}
		last, phase = at, p.Phase
		data, err := json.Marshal(Making{ID: w.ID, Name: w.Name, Job: w.Job, Progress: p})
		if err == nil {
			err = plainfile.Replace(path, data)
		}
		if err != nil {
			m.o.Log.Debug("writing down how far a workspace has come", "error", err)
		}
	}
	return tell, func() {
		mu.Lock()
		defer mu.Unlock()
		_ = os.Remove(path)
	}
}

// Making are the workspaces that somebody is at work on, with how far that has
// come. What a process has left that has ended is not among them.
func (m *Manager) Making() ([]Making, error) {
	entries, err := os.ReadDir(m.store.path(makingDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	list := []Making{}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || uuid.Validate(id) != nil {
			continue
		}
		data, err := plainfile.Read(m.store.makingPath(id), makingLimit)
		if err != nil {
			continue // it has ended since
		}
		var making Making
		if json.Unmarshal(data, &making) != nil || making.ID != id {
			continue
		}
		if release, err := m.store.try(id); err == nil {
			release() // whoever wrote it has ended
			continue
		}
		list = append(list, making)
	}
	slices.SortFunc(list, func(a, b Making) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}
