package daemon

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/pkg/browser"

	"lamplighter/app/api"
	"lamplighter/monitor"
)

// browserTime is how long a browser gets to fail. Some launchers return only
// when the browser's window is closed; that is success.
const browserTime = 2 * time.Second

// Browser opens addresses in the user's browser.
type Browser struct {
	launch func(url string) error
}

// NewBrowser is called once per process: it takes the library's output away
// from ours. A real file keeps the launcher from waiting for what the browser
// itself, a grandchild, may ever write.
func NewBrowser() Browser {
	var silent io.Writer = io.Discard
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		silent = null
	}
	browser.Stdout, browser.Stderr = silent, silent
	return Browser{launch: browser.OpenURL}
}

// Open opens the address of a dashboard on this machine and nothing else.
func (b Browser) Open(address string) error {
	if err := local(address); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- b.launch(address) }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("no browser could be opened (%w)", err)
		}
	case <-time.After(browserTime):
	}
	return nil
}

// local refuses what a browser launcher would take for something else than a
// page of this machine: a file, an option, another host.
func local(address string) error {
	shown := WithoutToken(address)
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("%q is not the address of a dashboard", shown)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme != "http" || (u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return fmt.Errorf("%q is not the address of a dashboard on this machine", shown)
	}
	return nil
}

// justStarted is how old a background process may be whose page is not served
// yet, although it is to be.
const justStarted = 2 * time.Second

// PageOf is the address of the global dashboard, "" where it is not served. It
// waits for that of a background process that has just started, as the control
// socket is there before the port is.
func (p *Program) PageOf(ctx context.Context, client *api.Client) (string, error) {
	for range justStarted / servedPoll {
		status, err := client.Status(ctx)
		switch {
		case err != nil:
			return "", err
		case status.Address != nil:
			return *status.Address, nil
		case status.StartedAt == nil || time.Since(*status.StartedAt) >= justStarted:
			return "", nil
		}
		if err := p.Pause(ctx, servedPoll); err != nil {
			return "", err
		}
	}
	return "", nil
}

// ByHand tells what to do about an address that was printed and that no browser
// could be started for. With a token in it, without which it would be refused, it
// is shown whole: on a terminal, which the user sees, and nowhere that is kept.
func (p *Program) ByHand(address string) string {
	if WithoutToken(address) == address {
		return "open the address above yourself"
	}
	terminal := p.Stdout
	switch {
	case p.OnScreen:
	case p.ErrOnScreen:
		terminal = p.Stderr
	default:
		return "the page wants a token here; run lamplighter open in a terminal, which shows the address that has it"
	}
	if _, err := fmt.Fprintln(terminal, monitor.Clean(address)); err != nil {
		return err.Error()
	}
	return "open the last address above yourself; it is for you alone, since whoever has it can do what you can on the page"
}
