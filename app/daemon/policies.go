package daemon

import (
	"context"
	"path/filepath"
	"sync/atomic"
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
	loud    atomic.Bool // the settings want notifications
}

// startPolicies makes them. The model exists by now, and asks the engine for its
// plans; only who holds the lock acts.
func (b *background) startPolicies(orders api.Stopper, lockHeld bool) *policing {
	p := &policing{notices: notify.New(notify.Options{App: "Lamplighter", Icon: "lamplighter", Log: b.log})}
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
		Withdraw: p.notices.Withdraw, Changed: b.model.PolicyChanged, Active: lockHeld, Log: b.log,
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
	p.loud.Store(loud)
	p.engine.SetRules(r)
}

// add adds both parts.
func (p *policing) add(add func(name string, serve func(context.Context) error)) {
	add("policies", p.engine.Serve)
	add("notifications", p.notices.Serve)
}

// tell shows a notice on the desktop, if the settings want that.
func (p *policing) tell(n policies.Notice) {
	what := notify.Notification{ID: n.Subject, Summary: n.Summary, Body: n.Body}
	if n.Asks {
		what.Actions = []notify.Action{{Key: policies.KeyKeep, Words: "Keep for 1 h"}, {Key: policies.KeyStop, Words: "Stop now"}}
	}
	p.announce(what, func(key string) { p.engine.Chosen(n, key) })
}

// announce shows a notification, and reports whether the settings want any. chosen hears
// its answer; nil: it has no buttons.
func (p *policing) announce(n notify.Notification, chosen func(key string)) bool {
	loud := p.loud.Load()
	if loud {
		n.Chosen = chosen
		p.notices.Show(n)
	}
	return loud
}
