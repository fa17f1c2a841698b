package cli

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/pkg/browser"
)

// browserTime is how long a browser gets to fail. Some launchers return only
// when the browser's window is closed; that is success.
const browserTime = 2 * time.Second

// webBrowser opens addresses in the user's browser.
type webBrowser struct {
	launch func(url string) error
}

// newBrowser is called once per process: it takes the library's output away
// from ours. A real file keeps the launcher from waiting for what the browser
// itself, a grandchild, may ever write.
func newBrowser() webBrowser {
	var silent io.Writer = io.Discard
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		silent = null
	}
	browser.Stdout, browser.Stderr = silent, silent
	return webBrowser{launch: browser.OpenURL}
}

// open opens the address of a dashboard on this machine and nothing else.
func (b webBrowser) open(address string) error {
	if err := local(address); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- b.launch(address) }()
	patience := time.NewTimer(browserTime)
	defer patience.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("no browser could be opened (%w)", err)
		}
	case <-patience.C:
	}
	return nil
}

// local refuses what a browser launcher would take for something else than a
// page of this machine: a file, an option, another host.
func local(address string) error {
	shown := withoutToken(address)
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
