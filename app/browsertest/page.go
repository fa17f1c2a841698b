package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits before it gives up; no test measures time.
const patience = 2 * time.Minute

// Page is an open page. Its methods are for the goroutine of the test, because
// they end the test when they fail.
type Page struct {
	ctx context.Context

	mu       sync.Mutex // of what the browser tells on its own goroutine
	said     []string   // complaints
	forgiven []string
	traffic  traffic
}

func (p *Page) do(t testing.TB, what string, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if _, err := run(p, chromedp.Steps(steps...)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// run lets the browser do something with the page. A page that hangs, or one
// that is hidden and asked for what it would have to draw, never answers.
func run[T any](p *Page, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// ask is run for one command of the protocol.
func ask[P, R any](p *Page, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Call(ctx, command, params)
}

// Go opens an address in the page and waits until it is loaded.
func (p *Page) Go(t testing.TB, url string) {
	t.Helper()
	p.do(t, "opening "+url, chromedp.Navigate(url))
}

// Back goes back in the page's history.
func (p *Page) Back(t testing.TB) {
	t.Helper()
	p.do(t, "going back", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Evaluate[*json.RawMessage]("void history.back()")(ctx, target)
		if err == chromedp.ErrJSUndefined {
			return nil
		}
		return err
	}))
}

// Eval returns the value of an expression in the page; a promise is awaited.
func Eval[T any](t testing.TB, p *Page, expression string) T {
	t.Helper()
	v, err := eval[T](p, expression)
	if err != nil {
		t.Fatalf("evaluating %s: %v", expression, err)
	}
	return v
}

func eval[T any](p *Page, expression string) (v T, err error) {
	// As text, so that any type that JSON knows can be had.
	text, err := run(p, chromedp.Evaluate[string](
		"Promise.resolve("+expression+").then(v => JSON.stringify(v === undefined ? null : v))", chromedp.EvalAwaitPromise))
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal([]byte(text), &v)
}

// Await waits until an expression, or what its promise becomes, is true in the
// page.
func (p *Page) Await(t testing.TB, what, expression string) {
	t.Helper()
	var last error
	p.await(t, what, func() bool {
		var ok bool
		ok, last = eval[bool](p, "Promise.resolve("+expression+").then(v => !!v)")
		return ok
	}, func() string {
		if last != nil {
			return last.Error()
		}
		return ""
	})
}

// AwaitText waits until the visible text of the first element of a selector has
// all the parts.
func (p *Page) AwaitText(t testing.TB, selector string, parts ...string) {
	t.Helper()
	p.await(t, fmt.Sprintf("%s says %q", selector, parts), func() bool {
		text, err := p.text(selector)
		return err == nil && !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
	}, func() string {
		text, err := p.text(selector)
		if err != nil {
			return err.Error()
		}
		return "it says:\n" + text
	})
}

// AwaitNoText waits until none of the parts is in the visible text.
func (p *Page) AwaitNoText(t testing.TB, selector string, parts ...string) {
	t.Helper()
	p.await(t, fmt.Sprintf("%s no longer says %q", selector, parts), func() bool {
		text, err := p.text(selector)
		return err == nil && !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
	}, func() string { text, _ := p.text(selector); return "it says:\n" + text })
}

func (p *Page) text(selector string) (string, error) {
	return eval[string](p, "document.querySelector("+quote(selector)+")?.innerText ?? ''")
}

// await waits for ok. When it gives up it says what the page shows.
func (p *Page) await(t testing.TB, what string, ok func() bool, detail func() string) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-p.ctx.Done():
			t.Fatalf("the page is gone while waiting until %s: %v", what, context.Cause(p.ctx))
		case <-deadline:
			text, _ := p.text("body")
			address, _ := eval[string](p, "location.href")
			p.Picture(t, "never")
			t.Fatalf("never happened: %s\n%s\ncomplaints: %q\nthe page %s shows:\n%s", what, detail(), p.Complaints(), address, text)
		}
	}
}

// Settle waits until what was changed is painted and nothing moves any more,
// save what always does.
func (p *Page) Settle(t testing.TB) {
	t.Helper()
	p.Await(t, "nothing moves", `document.getAnimations().every(one =>
		one.playState !== 'running' || one.effect.getComputedTiming().endTime === Infinity)`)
	Eval[any](t, p, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))")
}

// Hide minimises the page's window, so that the page is hidden; Show brings it
// back. Both wait until the page knows.
func (p *Page) Hide(t testing.TB) {
	t.Helper()
	p.window(t, browser.WindowStateMinimized)
	p.Await(t, "the page is hidden", "document.visibilityState === 'hidden'")
}

// Show is the opposite of Hide.
func (p *Page) Show(t testing.TB) {
	t.Helper()
	p.window(t, browser.WindowStateNormal)
	p.Await(t, "the page is shown", "document.visibilityState === 'visible'")
}

func (p *Page) window(t testing.TB, state browser.WindowState) {
	t.Helper()
	p.do(t, "changing the window", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		window, err := chromedp.CallBrowser(ctx, browser.GetWindowForTarget, browser.GetWindowForTargetParams{TargetID: target.TargetID})
		if err != nil {
			return err
		}
		_, err = chromedp.CallBrowser(ctx, browser.SetWindowBounds, browser.SetWindowBoundsParams{
			WindowID: window.WindowID, Bounds: &browser.Bounds{WindowState: state},
		})
		return err
	}))
}

// Metrics are Chromium's own figures of the page, in seconds and bytes:
// ScriptDuration, LayoutDuration, RecalcStyleDuration, TaskDuration,
// JSHeapUsedSize and others.
func (p *Page) Metrics(t testing.TB) map[string]float64 {
	t.Helper()
	result, err := ask(p, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		t.Fatalf("asking for metrics: %v", err)
	}
	all := make(map[string]float64)
	for _, m := range result.Metrics {
		all[m.Name] = m.Value
	}
	return all
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has JSON
	}
	return string(text)
}
