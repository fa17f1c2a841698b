package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/statefile"
)

// ErrInactive says that this process does not act on the policies, so that it
// takes no word about them either.
var ErrInactive = errors.New("this lamplighter does not hold the lock, so it leaves the policies alone; ask the one that does, or start it again")

// The answers to a Notice.
const (
	KeyKeep = "keep"
	KeyStop = "stop"
)

// SubjectFile is that of the notice about a file that cannot be read.
const SubjectFile = "file"

// keepFor is what the button of a Notice means.
const keepFor = time.Hour

// byNotice is who gives the word with such a button.
const byNotice = "the notification"

// load reads what the user has said before. What may have been said and cannot
// be read counts as a pause.
func (e *Engine) load() {
	if e.o.Path == "" {
		return
	}
	if e.o.Active {
		// Each write sweeps too, but most runs of the program write nothing.
		if err := statefile.Sweep(e.o.Path, statefile.Abandoned); err != nil {
			e.o.Log.Warn("a file that an interrupted write of the policies has left cannot be removed", "error", err)
		}
	}
	s, err := policy.Wishes{}, e.bootErr
	if err == nil {
		s, err = e.file.Read()
	}
	switch {
	case err == nil:
		e.wishes = s
		return
	case errors.Is(err, fs.ErrNotExist):
		return
	}
	e.wishes = policy.Wishes{Paused: true}
	text := "Nothing is ended until you resume the policies, and mend or remove that file."
	if errors.Is(err, errCorrupt) && e.o.Active {
		kept, keepErr := statefile.Quarantine(e.o.Path, e.now(), func() error { return e.save(e.wishes) })
		if keepErr != nil {
			err = fmt.Errorf("%w, and %w", err, keepErr)
		} else {
			text = "It was set aside as " + monitor.Clean(kept) + ". Nothing is ended until you resume the policies."
		}
	}
	e.o.Log.Warn("what was said about the policies cannot be read; they are paused", "error", err)
	e.problem = &Notice{Subject: SubjectFile, Summary: "The policies are paused", Body: fmt.Sprintf("What you have said about them cannot be read: %v. %s", err, text)}
}

func (e *Engine) save(s policy.Wishes) error {
	switch {
	case e.o.Path == "":
		return nil
	case e.bootErr != nil:
		return e.bootErr
	}
	return e.file.Write(s)
}

// change writes what the user says now, and makes it hold. After an error
// nothing has changed.
func (e *Engine) change(what string, how func(*policy.Wishes)) (now time.Time, before policy.Wishes, err error) {
	now = e.now()
	if !e.o.Active {
		return now, policy.Wishes{}, fmt.Errorf("%s: %w", what, ErrInactive)
	}
	e.changing.Lock()
	defer e.changing.Unlock()
	before = e.wishesNow()
	after := before.Tidy(now)
	how(&after)
	if err := e.save(after); err != nil {
		return now, before, fmt.Errorf("%s: %w", what, err)
	}
	e.mu.Lock()
	e.wishes = after
	e.mu.Unlock()
	e.o.Changed()
	return now, before, nil
}

func (e *Engine) wishesNow() policy.Wishes {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wishes
}

// Keep lets no policy end an instance for so long; 0 takes that back. By says in
// words who asks for it. After an error nothing has changed; it is a sentence for
// people and wraps ErrInactive or what is wrong with the file.
func (e *Engine) Keep(in monitor.Instance, d time.Duration, by string) error {
	now, before, err := e.change(in.Label()+" was not kept", func(s *policy.Wishes) {
		if d > 0 {
			s.Kept[in.Identity] = e.now().Add(d).Round(0) // what is shown and written counts
		} else {
			delete(s.Kept, in.Identity)
		}
	})
	if err != nil {
		return err
	}
	if d > 0 {
		e.o.Record(in.Event(monitor.EventKept, now, said("for "+monitor.Span(d), by)))
	} else if _, was := before.KeptAt(in.Identity, now); was {
		e.o.Record(in.Event(monitor.EventKept, now, said("no longer", by)))
	}
	return nil
}

// Pause lets no policy do or tell anything until then; zero: until Resume. Errors
// are those of Keep.
func (e *Engine) Pause(until time.Time, by string) error {
	const what = "the policies were not paused"
	until = until.Round(0) // what is shown and written counts
	if now := e.now(); !until.IsZero() && !now.Before(until) {
		return fmt.Errorf("%s: %s has passed already; give a later time", what, until.Format(time.RFC3339))
	}
	now, _, err := e.change(what, func(s *policy.Wishes) { s.Paused, s.PausedUntil = true, until })
	if err != nil {
		return err
	}
	detail := "until resumed"
	if !until.IsZero() {
		detail = "for " + monitor.Span(until.Sub(now))
	}
	e.o.Record(monitor.Event{At: now, Kind: monitor.EventPoliciesPaused, Detail: said(detail, by)})
	return nil
}

// Resume takes a pause back. Errors are those of Keep.
func (e *Engine) Resume(by string) error {
	now, before, err := e.change("the policies were not resumed", func(s *policy.Wishes) { s.Paused, s.PausedUntil = false, time.Time{} })
	if err == nil && before.PausedAt(now) {
		e.o.Record(monitor.Event{At: now, Kind: monitor.EventPoliciesResumed, Detail: said("", by)})
	}
	return err
}

// Switch switches a rule on or off. One that the settings give nothing to do does
// nothing when it is on. Errors are those of Keep.
func (e *Engine) Switch(r policy.Rule, on bool, by string) error {
	what := fmt.Sprintf("the rule %q was not switched", r)
	if !slices.Contains(policy.All, r) {
		return fmt.Errorf("%s: there is none of that name; there are %v", what, policy.All)
	}
	now, before, err := e.change(what, func(s *policy.Wishes) {
		if on {
			delete(s.Off, r)
		} else {
			s.Off[r] = true
		}
	})
	if err != nil || before.Off[r] == !on {
		return err
	}
	state := "off"
	if on {
		state = "on"
	}
	e.o.Record(monitor.Event{At: now, Kind: monitor.EventRuleSwitched, Detail: said(string(r)+" "+state, by)})
	return nil
}

// Chosen takes what the user answers to a notice: KeyKeep keeps its instances for
// an hour, KeyStop ends those now of which still holds what the notice said, unless
// something else stands against it; the user is told which are not ended. It
// waits for no end. Another key is nothing.
func (e *Engine) Chosen(n Notice, key string) {
	switch key {
	case KeyKeep:
		for _, in := range e.o.Source.Snapshot().Instances {
			if !slices.Contains(n.IDs, in.Identity) {
				continue
			}
			if err := e.Keep(*in, keepFor, byNotice); err != nil {
				e.o.Log.Warn("instances are not kept", "error", err)
				e.o.Tell(Notice{Subject: "keep", Summary: "Not kept", Body: monitor.Sentence(monitor.Clean(err.Error()))})
				return
			}
		}
	case KeyStop:
		e.post(func(*monitor.Snapshot) {
			for _, id := range n.IDs {
				e.book.asked = append(e.book.asked, start{in: monitor.Instance{Identity: id}, grounds: n.grounds[id]})
			}
		})
	}
}

// Decisions are those about a snapshot: with "" what the policies do now, each at the
// time that was announced, and what they will tell of, else what an order of the user
// means.
func (e *Engine) Decisions(s *monitor.Snapshot, w policy.Rule) []policy.Action {
	at := *s
	at.At = e.now()
	r := e.rules()
	if w != "" {
		return policy.Select(&at, w, r)
	}
	actions, _ := policy.Decide(&at, r)
	for i := range actions {
		a := &actions[i]
		if planned := s.Instance(a.ID).Plan.ShutdownAt; a.Do == policy.End && at.At.Before(planned) {
			a.Do, a.At = policy.Wait, planned
		}
	}
	return append(actions, policy.Foreseen(&at, r)...)
}

// said is what was said, and by whom.
func said(what, by string) string {
	if by = monitor.Clean(by); by != "" {
		by = "by " + by
	}
	return strings.Trim(what+", "+by, ", ")
}
