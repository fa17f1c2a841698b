package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"lamplighter/monitor/serena/serenatest"
)

// Audit lets axe-core look at the page as it is now, and fails the test with
// every violation of WCAG 2.2 AA and of good practice that it finds.
func (p *Page) Audit(t testing.TB, what string) {
	t.Helper()
	for _, violation := range p.violations(t) {
		t.Errorf("accessibility of %s: %s", what, violation)
	}
}

// violations is what axe-core finds, one text for each rule.
func (p *Page) violations(t testing.TB) []string {
	t.Helper()
	p.Settle(t) // colours in between are nobody's choice
	path := filepath.Join(serenatest.Tools(t), "axe", "axe.min.js")
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("axe-core is needed (%v): run ./build.sh test, which installs it", err)
	}
	if !Eval[bool](t, p, "typeof axe === 'object'") {
		p.do(t, "bringing axe-core into the page", chromedp.Func(evaluated(string(axe))))
	}
	type node struct {
		HTML    string
		Target  []any
		Summary string `json:"failureSummary"`
	}
	found := Eval[[]struct {
		ID, Impact, Help string
		Nodes            []node
	}](t, p, `axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)`)
	var all []string
	for _, v := range found {
		var text strings.Builder
		fmt.Fprintf(&text, "%s (%s): %s", v.ID, v.Impact, v.Help)
		for i, n := range v.Nodes {
			if i == 5 {
				fmt.Fprintf(&text, "\n  … and %d more", len(v.Nodes)-i)
				break
			}
			fmt.Fprintf(&text, "\n  %v %.200s\n    %s", n.Target, n.HTML, strings.ReplaceAll(n.Summary, "\n", "\n    "))
		}
		all = append(all, text.String())
	}
	return all
}

// WiderThanWindow tells the elements that make the page scroll sideways.
func (p *Page) WiderThanWindow(t testing.TB) []string {
	t.Helper()
	return Eval[[]string](t, p, `(() => {
		const root = document.documentElement, wide = root.clientWidth
		if (root.scrollWidth <= wide && document.body.scrollWidth <= wide) return []
		const clipped = node => { for (let at = node.parentElement; at; at = at.parentElement) if (at !== document.body && at !== root && getComputedStyle(at).overflowX !== 'visible') return true }
		return [...document.querySelectorAll('body *')]
			.filter(node => node.getBoundingClientRect().right > wide + 1 && !clipped(node))
			.slice(0, 10).map(node => node.outerHTML.slice(0, 120) + ' to ' + Math.round(node.getBoundingClientRect().right) + ' of ' + wide)
			.concat(['the page is ' + root.scrollWidth + ' wide in a window of ' + wide])
	})()`)
}
