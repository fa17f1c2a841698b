package daemon

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/config"
	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

const pageURL = "http://127.0.0.1:25282/global-dashboard/"

// fakePage is a page that is or is not served, or watched. The real one is
// opened in app/page_unix_test.go.
type fakePage struct {
	url, token string
	watched    bool
}

func (p *fakePage) URL() string   { return p.url }
func (p *fakePage) Watched() bool { return p.watched }

func (p *fakePage) OpenURL(fragment string) string {
	switch {
	case p.url == "":
		return ""
	case p.token != "" && fragment != "":
		fragment += "&token=" + p.token
	case p.token != "":
		fragment = "token=" + p.token
	}
	if fragment == "" {
		return p.url
	}
	return p.url + "#" + fragment
}

// fakeMark may be claimed once, or never.
type fakeMark struct {
	err    error
	claims int
}

func (m *fakeMark) claim() (bool, error) {
	m.claims++
	return m.err == nil && m.claims == 1, m.err
}

// opening is an opener under test.
type opening struct {
	*opener
	log apptest.Buffer

	mu     sync.Mutex
	opened []string
	err    error // of the browser
}

func newOpening(t *testing.T, web webPage, d config.Dashboard, mark *fakeMark) *opening {
	t.Helper()
	o := &opening{}
	open := func(url string) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.opened = append(o.opened, url)
		return o.err
	}
	nothing := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	o.opener = newOpener(web, func() config.Dashboard { return d }, open, loginMark{}, nothing, slog.New(slog.NewTextHandler(&o.log, nil)))
	o.mark = mark
	return o
}

func (o *opening) list() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.opened)
}

func TestOpensByItself(t *testing.T) {
	served := func() *fakePage { return &fakePage{url: pageURL, token: "x"} }
	on := config.Dashboard{On: true, OpenOnLaunch: true}
	own := serena.DashboardURL(24282)
	const page = pageURL + "#token=x"
	for name, test := range map[string]struct {
		web      *fakePage
		settings config.Dashboard
		mark     fakeMark
		asks     bool // else one appears
		want     []string
		claims   int
	}{
		"the first appears":                    {served(), on, fakeMark{}, false, []string{page}, 1},
		"one asks":                             {served(), config.Dashboard{On: true}, fakeMark{}, true, []string{page}, 1},
		"the first appears, not set":           {served(), config.Dashboard{On: true}, fakeMark{}, false, nil, 0},
		"the first appears, not served":        {&fakePage{}, config.Dashboard{OpenOnLaunch: true}, fakeMark{}, false, nil, 0},
		"the first appears, no port":           {&fakePage{}, on, fakeMark{}, false, nil, 0},
		"one asks, not served":                 {&fakePage{}, config.Dashboard{}, fakeMark{}, true, []string{own}, 0},
		"one asks, no port":                    {&fakePage{}, on, fakeMark{}, true, []string{own}, 0},
		"the first appears, opened before":     {served(), on, fakeMark{claims: 1}, false, nil, 2},
		"one asks, opened before":              {served(), on, fakeMark{claims: 1}, true, nil, 2},
		"the first appears, it cannot be told": {served(), on, fakeMark{err: errors.New("a directory")}, false, nil, 1},
		"one asks, it cannot be told":          {served(), on, fakeMark{err: errors.New("a directory")}, true, nil, 1},
		"the first appears, a page is open":    {&fakePage{url: pageURL, watched: true}, on, fakeMark{}, false, nil, 1},
		"one asks, a page is open":             {&fakePage{url: pageURL, watched: true}, on, fakeMark{}, true, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOpening(t, test.web, test.settings, &test.mark)
			if test.asks {
				o.view(t.Context(), 24282)
			} else {
				o.launch(t.Context())
			}
			if got := o.list(); !slices.Equal(got, test.want) || test.mark.claims != test.claims {
				t.Errorf("opened %q, want %q; claimed %d times, want %d", got, test.want, test.mark.claims, test.claims)
			}
		})
	}
}

// Both reasons together open it once, and a browser that fails does not make it
// try again.
func TestOpensOnceInAll(t *testing.T) {
	on := config.Dashboard{On: true, OpenOnLaunch: true}
	o := newOpening(t, &fakePage{url: pageURL, token: "x"}, on, &fakeMark{})
	o.err = errors.New("no browser could be opened")
	for range 3 {
		o.launch(t.Context())
		o.view(t.Context(), 24282)
	}
	if got := o.list(); len(got) != 1 {
		t.Errorf("opened %q", got)
	}
	apptest.Contains(t, o.log.String(), "no browser could be opened", pageURL)
	if got := o.log.String(); strings.Contains(got, "token") {
		t.Errorf("logged %q", got)
	}
}

func TestOpenerServes(t *testing.T) {
	o := newOpening(t, &fakePage{url: pageURL}, config.Dashboard{On: true, OpenOnLaunch: true}, &fakeMark{})
	for range 3 { // nobody reads yet, and nobody waits
		o.happened(monitor.Event{Kind: monitor.EventStopped})
		o.viewer(24282)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.Serve(ctx) }()
	defer func() { cancel(); <-ended }()
	opens := func(want ...string) {
		t.Helper()
		apptest.Eventually(t, "it opens", func() bool { return slices.Equal(o.list(), want) })
	}
	opens(pageURL)
	if len(o.appeared) != 0 {
		t.Error("an end is no appearance")
	}
	for range 3 {
		o.happened(monitor.Event{Kind: monitor.EventStarted})
	}
	apptest.Eventually(t, "the events are taken", func() bool { return len(o.appeared) == 0 })
	opens(pageURL)
}

// Right after the start the port is not there yet.
func TestWaitsForThePage(t *testing.T) {
	page := &latePage{}
	o := newOpening(t, page, config.Dashboard{On: true, OpenOnLaunch: true}, &fakeMark{})
	o.launch(t.Context())
	if got := o.list(); !slices.Equal(got, []string{pageURL}) {
		t.Errorf("opened %q after %d looks", got, page.looks)
	}
}

// latePage is served when it was looked at a few times.
type latePage struct {
	fakePage
	looks int
}

func (p *latePage) URL() string {
	if p.looks++; p.looks < 5 {
		return ""
	}
	return pageURL
}

func (p *latePage) OpenURL(string) string { return pageURL }
