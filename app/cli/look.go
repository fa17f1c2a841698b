package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// listing is what a verb shows and acts on.
type listing struct {
	sent     api.Instances
	scan     *monitor.Snapshot // what they were found as, nil from the background process
	warnings []string
	standing string // what people are told below the list, in whole lines
}

// found is a server as the scan has found it, nil when that has not.
func (v listing) found(s *view.Server) *monitor.Instance {
	id, err := monitor.ParseIdentity(string(s.ID))
	if err != nil {
		return nil
	}
	return v.scan.Instance(id)
}

// look returns all instances: as the background process has them, or by a scan
// when that does not run.
func (p *program) look(ctx context.Context) (listing, error) {
	v, client, err := p.lookAndStay(ctx)
	if client != nil {
		client.Close()
	}
	return v, err
}

// lookAndStay is look that keeps the client of the background process, nil
// where that does not run. The caller closes it.
func (p *program) lookAndStay(ctx context.Context) (listing, *api.Client, error) {
	client, health, err := api.Dial(ctx, p.Places().ControlSocket)
	if err == nil {
		var list api.Instances
		if list, err = client.Instances(ctx); err == nil {
			return received(list, health), client, nil
		}
		client.Close()
	}
	if ctx.Err() != nil {
		return listing{}, nil, ctx.Err()
	}
	p.explainScan(err)
	v, err := p.scanned(ctx)
	return v, nil, err
}

// lookToChange is lookAndStay before something is changed that the background
// process knows by itself: where it runs it has to answer. The caller closes the
// client.
func (p *program) lookToChange(ctx context.Context) (listing, *api.Client, error) {
	v, client, err := p.lookAndStay(ctx)
	if err != nil || client != nil {
		return v, client, err
	}
	running, err := p.findRunning(ctx)
	if running == nil {
		return v, nil, err
	}
	v, client, err = p.lookAndStay(ctx) // it answers by now
	if err == nil && client == nil {
		err = fmt.Errorf("lamplighter runs%s and did not answer; do this again", daemon.PIDInWords(running.pid))
	}
	return v, client, err
}

// dial reaches the background process for what only that can do.
func (p *program) dial(ctx context.Context) (*api.Client, error) {
	client, _, err := api.Dial(ctx, p.Places().ControlSocket)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%w; start it with: lamplighter run", err)
	}
	return client, err
}

// explainScan tells why there is a scan, unless the background process simply
// does not run, which is nothing unusual.
func (p *program) explainScan(err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || p.Places().ControlSocket == "" {
		return
	}
	p.Say("%v; looking at the processes instead", err)
}

func received(list api.Instances, health api.Health) listing {
	return listing{sent: list, warnings: health.Warnings}
}

func (p *program) scanned(ctx context.Context) (listing, error) {
	s, err := p.scan(ctx)
	if err != nil {
		return listing{}, err
	}
	return seen(s), nil
}

func seen(s *monitor.Snapshot) listing {
	return listing{sent: api.InstancesOf(s, time.Now()), scan: s, warnings: s.Warnings}
}
