//go:build real && linux

package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page has something of everything that the tests look for.
const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page</title><link rel="icon" href="data:,">
<script src="page.js" type="module"></script></head><body><main><h1>Page</h1>
<button id="one">Count</button> <button disabled>Never</button> <label>Name <input id="name"></label> <p id="out">nothing</p>
</main></body></html>`

const script = `
let n = 0, asked = 0
const out = document.getElementById('out')
document.getElementById('one').onclick = () => { out.textContent = 'clicked ' + ++n }
document.getElementById('name').oninput = e => { out.textContent = 'named ' + e.target.value }
setInterval(() => { if (document.visibilityState === 'visible') fetch('tick').then(() => { window.asked = ++asked }) }, 20)
`

// TestBrowser uses a page the way the other tests do.
func TestBrowser(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; require-trusted-types-for 'script'")
		fmt.Fprint(w, page)
	})
	mux.HandleFunc("/page.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, script)
	})
	mux.HandleFunc("/tick", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 1000)) })
	server := httptest.NewServer(mux)
	defer server.Close()

	p := Start(t).Open(t, server.URL+"/", Options{})
	p.Click(t, Button("Count"))
	p.AwaitText(t, "#out", "clicked 1")
	if all := p.Find(t, Button("")); len(all) != 2 || all[1].Properties["disabled"] != "true" {
		t.Errorf("buttons: %+v", all)
	}
	p.Fill(t, Field("Name"), "über")
	p.AwaitText(t, "#out", "named über")
	if got := p.Focused(t); got != "textbox Name" {
		t.Errorf("focused: %q", got)
	}
	p.pressWith(t, kb.Tab, 8) // Shift
	p.Press(t, kb.Enter)
	p.AwaitText(t, "#out", "clicked 2")

	p.Await(t, "it asks while it is shown", "window.asked > 2")
	if all := p.Traffic(); all.Of("tick").Bytes() < 2000 || len(all.Of("page.js")) != 1 {
		t.Errorf("traffic:\n%v", all)
	}
	p.Hide(t)
	p.Show(t)
	if Eval[string](t, p, "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'") != "light" {
		t.Error("the page is dark")
	}
	p.Look(t, Options{Width: 390, Height: 700, Dark: true, ReducedMotion: true})
	p.Await(t, "it is dark, still and narrow", "matchMedia('(prefers-color-scheme: dark) and (prefers-reduced-motion: reduce)').matches && innerWidth === 390")
	p.Audit(t, "a good page")
	if wide := p.WiderThanWindow(t); len(wide) != 0 {
		t.Errorf("too wide: %q", wide)
	}

	// What is wrong is found.
	Eval[any](t, p, "document.getElementById('out').setAttribute('style', 'color: #eee; width: 900px')")
	Eval[any](t, p, "Object.assign(document.getElementById('out').style, {color: '#eee', background: '#fff', width: '900px'})")
	if found := p.violations(t); len(found) != 1 || !strings.HasPrefix(found[0], "color-contrast (serious)") {
		t.Errorf("violations: %q", found)
	}
	if wide := p.WiderThanWindow(t); len(wide) == 0 {
		t.Error("too wide, and not found")
	}
	Eval[any](t, p, "void setTimeout(() => { throw new Error('thrown') })")
	Eval[any](t, p, "console.error('logged', 7)")
	p.await(t, "three complaints", func() bool { return len(p.Complaints()) == 3 }, func() string { return "" })
	all := strings.Join(p.Complaints(), "\n")
	for _, part := range []string{"Content Security Policy", "thrown", "console.error logged 7"} {
		if !strings.Contains(strings.ReplaceAll(all, "\"", ""), part) {
			t.Errorf("%q is not among the complaints:\n%s", part, all)
		}
	}
	for _, part := range []string{"Content Security Policy", "thrown", "console.error"} {
		p.Forgive(part)
	}
}
