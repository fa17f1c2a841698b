package daemon

import (
	"path/filepath"

	"lamplighter/app/api"
	"lamplighter/app/notify"
	"lamplighter/app/policies"
	"lamplighter/monitor"
)

// startPolicies makes the parts that end what nobody uses, and tell of it. Only who
// holds the lock acts.
func (b *background) startPolicies(orders api.Stopper, lockHeld bool) {
	b.notifier = notify.New(notify.Options{App: "Lamplighter", Icon: "lamplighter", Log: b.log})
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
			b.showNotice(n)
		},
		Withdraw: b.notifier.Withdraw, Changed: b.model.PolicyChanged, Active: lockHeld, Log: b.log,
	}
	if b.places.StateDir != "" {
		o.Path = filepath.Join(b.places.StateDir, "policy.json")
	}
	b.engine = policies.New(o)
	b.add("policies", b.engine.Serve)
	b.add("notifications", b.notifier.Serve)
}

// showNotice shows a notice on the desktop, if the settings want that.
func (b *background) showNotice(n policies.Notice) {
	what := notify.Notification{ID: n.Subject, Summary: n.Summary, Body: n.Body}
	if n.Asks {
		what.Actions = []notify.Action{{Key: policies.KeyKeep, Words: "Keep for 1 h"}, {Key: policies.KeyStop, Words: "Stop now"}}
	}
	b.announce(what, func(key string) { b.engine.Chosen(n, key) })
}

// announce shows a notification, and reports whether the settings want any. chosen hears
// its answer; nil: it has no buttons.
func (b *background) announce(n notify.Notification, chosen func(key string)) bool {
	if !b.layers.now.Load().notifications {
		return false
	}
	n.Chosen = chosen
	b.notifier.Show(n)
	return true
}
