package daemon

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/notify"
	"lamplighter/app/policies"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// policing are the parts that end what nobody uses, and tell of it.
type policing struct {
	engine  *policies.Engine
	notices *notify.Notifier
	source  monitor.Source

	mu    sync.Mutex
	shown map[string]policies.Notice  // by subject, for the answers
	loud  bool                        // the settings want notifications
	own   map[string]func(key string) // by subject: who hears the answers to what is not of the policies
}

// startPolicies makes them. The model exists by now, and asks the engine for its
// plans; only who holds the lock acts.
func (b *background) startPolicies(orders api.Stopper, lockHeld bool) *policing {
	p := &policing{source: b.model, shown: map[string]policies.Notice{}, own: map[string]func(string){}}
	p.notices = notify.New(notify.Options{App: "Lamplighter", Icon: "lamplighter", Chosen: p.chosen, Log: b.log})
	o := policies.Options{
		Source: b.model, Stop: orders, Fresh: b.model.Fresh,
		Record: func(e monitor.Event) {
			if e.Kind == monitor.EventPoliciesResumed {
				b.notices.set(aboutPolicies)
			}
			b.model.Record(e)
		},
		Tell: func(n policies.Notice) {
			if n.Subject == policies.SubjectFile {
				b.notices.set(aboutPolicies, n.Summary+": "+n.Body)
			}
			p.tell(n)
		},
		Withdraw: p.withdraw, Changed: b.model.PolicyChanged, Active: lockHeld, Log: b.log,
	}
	if b.places.StateDir != "" {
		o.Path = filepath.Join(b.places.StateDir, "policy.json")
	}
	p.engine = policies.New(o)
	b.policing.Store(p)
	return p
}

// plan is what the model asks for each snapshot, also before there is an engine.
func (b *background) plan(s *monitor.Snapshot) time.Time {
	if p := b.policing.Load(); p != nil {
		return p.engine.Plan(s)
	}
	return time.Time{}
}

// hold makes the settings count.
func (p *policing) hold(r policy.Rules, loud bool) {
	p.mu.Lock()
	p.loud = loud
	p.mu.Unlock()
	p.engine.SetRules(r)
}

// add adds both parts.
func (p *policing) add(add func(name string, serve func(context.Context) error)) {
	add("policies", p.engine.Serve)
	add("notifications", p.notices.Serve)
}

// tell shows a notice on the desktop, if the settings want that.
func (p *policing) tell(n policies.Notice) {
	if !p.note(n) {
		return
	}
	what := notify.Notification{ID: n.Subject, Summary: n.Summary, Body: n.Body}
	if n.Asks {
		what.Actions = []notify.Action{{Key: policies.KeyKeep, Words: "Keep for 1 h"}, {Key: policies.KeyStop, Words: "Stop now"}}
	}
	p.notices.Show(what)
}

// note remembers what a notice is about, and forgets those about instances that
// have ended. It tells whether the settings want it shown.
func (p *policing) note(n policies.Notice) bool {
	s := p.source.Snapshot()
	living := make(map[monitor.Identity]bool, len(s.Instances))
	for i := range s.Instances {
		living[s.Instances[i].Identity] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.shown, func(_ string, of policies.Notice) bool {
		return !slices.ContainsFunc(of.IDs, func(id monitor.Identity) bool { return living[id] })
	})
	if p.loud && n.Asks {
		p.shown[n.Subject] = n
	}
	return p.loud
}

func (p *policing) withdraw(subject string) {
	p.mu.Lock()
	delete(p.shown, subject)
	p.mu.Unlock()
	p.notices.Withdraw(subject)
}

// chosen takes what the user answers.
func (p *policing) chosen(subject, key string) {
	p.mu.Lock()
	n, known := p.shown[subject]
	own := p.own[subject]
	p.mu.Unlock()
	switch {
	case own != nil:
		own(key)
	case known:
		p.engine.Chosen(n, key)
	}
}

// announce shows a notification that is not of the policies, and reports whether the
// settings want any. chosen hears its answer; nil: it has no buttons.
func (p *policing) announce(n notify.Notification, chosen func(key string)) bool {
	p.mu.Lock()
	loud := p.loud
	if loud && chosen != nil {
		p.own[n.ID] = chosen
	}
	p.mu.Unlock()
	if loud {
		p.notices.Show(n)
	}
	return loud
}
