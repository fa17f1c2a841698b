package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/situation"
)

// Recording is what a situation is recorded from.
type Recording struct {
	Path     string            // of the file, which must not be there yet
	Version  string            // of this program
	Snapshot *monitor.Snapshot // of the background process, or of a scan
	// Background is the pid of the background process; without one, that of whoever
	// would act in its place.
	Background int
	Servers    []rules.Rule // of the user's settings
	Policies   policy.Rules
	Paused     bool          // the policies are
	Off        []policy.Rule // switched off by the user
}

// Record writes the situation that this machine is in to a file, with what is
// private removed and what the policies decide now as what is expected. Only the
// user may read the file.
func Record(ctx context.Context, o Recording) (*situation.Situation, error) {
	s, err := situation.Record(ctx, process.Local(), serena.NewClient(), o.Snapshot, o.Background)
	if err != nil {
		return nil, err
	}
	s.Name = strings.TrimSuffix(filepath.Base(o.Path), ".json")
	s.Source = fmt.Sprintf("recorded by lamplighter %s with doctor --record", o.Version)
	policies := o.policies()
	if s.Policies, err = json.Marshal(policies); err != nil {
		return nil, err
	}
	s.Rules = o.Servers
	actions, _ := policy.Decide(o.Snapshot, policies)
	s.Expect = expected(s, actions)
	text, err := monitor.JSON(s, "  ")
	if err != nil {
		return nil, err
	}
	return s, writeNew(o.Path, text)
}

// expected are the decisions about the processes that are recorded.
func expected(s *situation.Situation, actions []policy.Action) []situation.Expectation {
	list := []situation.Expectation{}
	for _, a := range actions {
		if slices.ContainsFunc(s.Processes, func(p situation.Process) bool { return p.PID == a.ID.PID }) {
			list = append(list, situation.Expectation{PID: a.ID.PID, Do: string(a.Do), Rule: string(a.Rule), Because: a.Because})
		}
	}
	return list
}

// policies are the settings with what the user has decided since.
func (o Recording) policies() policy.Rules {
	r := o.Policies
	r.Paused = r.Paused || o.Paused
	r.Off = map[policy.Rule]bool{}
	for _, rule := range o.Off {
		r.Off[rule] = true
	}
	r.Kept = map[monitor.Identity]time.Time{}
	for _, in := range o.Snapshot.Instances {
		if !in.Plan.KeptUntil.IsZero() {
			r.Kept[in.Identity] = in.Plan.KeptUntil
		}
	}
	return r
}

// writeNew writes a file that was not there.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and nothing is written over it: give another name", path)
	}
	if err != nil {
		return fmt.Errorf("making the file: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
