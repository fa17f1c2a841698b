// Package browsertest drives a private Chromium in tests, through its DevTools
// protocol, as a user with mouse and keyboard would: what is clicked is found by
// the role and the name that a screen reader tells.
//
// Only tests import it. Chromium and axe-core are installed by ./build.sh test;
// nothing is downloaded from here.
package browsertest

import (
	"context"
	"os/exec"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// Browser is one running Chromium with a profile of its own.
type Browser struct{ ctx context.Context }

// Start starts a browser without a window. It ends with the test, and so does
// everything that it started; its profile is removed.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("Chromium is needed, and was not found (%v): run ./build.sh test, which installs it", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.WindowSize(1280, 800),
		// It never speaks to anybody but the test and the page.
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("disable-gpu", true),
	)
	allocator, release := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("ending Chromium: %v", err)
		}
		cancel()
		release()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return &Browser{ctx: ctx}
}

// Options say how a page is opened. The zero value is 1280 × 800, light, with
// motion.
type Options struct {
	Width, Height int // in CSS pixels; 0 is 1280 × 800
	Dark          bool
	ReducedMotion bool
}

// Open opens a page in a window and a profile of its own. It is closed with the
// test, which fails if the page has complained until then.
func (b *Browser) Open(t testing.TB, url string, o Options) *Page {
	t.Helper()
	p := &Page{}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	p.ctx = ctx
	t.Cleanup(func() {
		for _, each := range p.Complaints() {
			t.Errorf("the page complained: %s", each)
		}
		if t.Failed() {
			p.Picture(t, "failed")
		}
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("closing a page: %v", err)
		}
		cancel()
	})
	// The page lives as long as the context of this first step.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("opening a page: %v", err)
	}
	p.do(t, "listening to a page", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{})
		return err
	}))
	p.Look(t, o)
	p.Go(t, url)
	return p
}

// Look changes how the page is looked at.
func (p *Page) Look(t testing.TB, o Options) {
	t.Helper()
	if o.Width == 0 {
		o.Width, o.Height = 1280, 800
	}
	scheme, motion := "light", "no-preference"
	if o.Dark {
		scheme = "dark"
	}
	if o.ReducedMotion {
		motion = "reduce"
	}
	p.do(t, "setting how the page is looked at",
		chromedp.EmulateViewport(int64(o.Width), int64(o.Height)),
		chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: motion},
			}})
			return err
		}))
}
