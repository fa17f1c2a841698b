//go:build windows || darwin

package notify

import (
	"context"
	"path/filepath"
	"time"

	"github.com/gen2brain/beeep"
)

// serve hands notifications to the system one after the other. It has no
// buttons for us and takes none back.
func (n *Notifier) serve(ctx context.Context) error {
	beeep.AppName = n.opts.App
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.queue.wake:
		}
		for {
			e, ok := n.queue.next(time.Now())
			if !ok {
				break
			}
			if e.withdraw {
				continue
			}
			if e.Unheard != nil {
				go e.Unheard()
				continue
			}
			done := make(chan error, 1)
			go func() { done <- n.hand(e) }() // may start a program and wait for it
			select {
			case <-ctx.Done():
				return nil
			case err := <-done:
				if err != nil {
					n.complain("the system does not take them", err)
				} else {
					n.shown()
				}
			}
		}
	}
}

func (n *Notifier) hand(e entry) error {
	m := compose(e.Notification, abilities{body: true}, n.opts.App)
	show := beeep.Notify
	if e.Urgent {
		show = beeep.Alert // with a sound
	}
	icon := ""
	if filepath.IsAbs(n.opts.Icon) { // there are no names for icons
		icon = systemIcon(n.opts.Icon)
	}
	return show(system(m.summary), system(m.body), icon)
}
