package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"lamplighter/app/config"
)

// Only who looks at a terminal is greeted, with the page when there is one; the end
// does not wait for a page that does not come.
func TestGreetOnATerminalAlone(t *testing.T) {
	for name, test := range map[string]struct {
		terminal, served bool
	}{
		"a terminal":                 {true, true},
		"a terminal without a page":  {true, false},
		"a file":                     {false, true},
		"the journal of the service": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			d.OnScreen = test.terminal
			page := &fakePage{}
			if test.served {
				page.url, page.token = pageURL, "x"
			}
			settings := func() config.Dashboard { return config.Dashboard{On: test.served} }
			b := &background{Program: d.Program, opener: newOpener(page, settings, nil, loginMark{}, d.Pause, nil)}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- b.greet(ctx) }()
				synctest.Wait()
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("it ended with %v", err)
				}
			})
			got := d.out.String()
			if (got != "") != test.terminal || strings.Contains(got, pageURL+"#token=x") != (test.terminal && test.served) {
				t.Errorf("printed %q", got)
			}
		})
	}
}
