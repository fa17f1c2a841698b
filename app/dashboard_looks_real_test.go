//go:build real && linux

package main

import (
	"fmt"
	"testing"

	"lamplighter/app/browsertest"
)

// looks goes through the page in light and dark, wide and narrow, with and
// without motion: nothing is too wide and nothing is hard to read.
func (s *street) looks(t *testing.T) {
	p := s.page
	views := map[string]struct{ address, text string }{
		"overview": {s.address, "live"},
		"instance": {s.at(s.green, ""), "Tool Usage"},
		"logs":     {s.at(s.green, "logs"), "FindSymbolTool"},
		"history":  {s.at(s.green, "history"), "Memory"},
		"events":   {s.at(s.green, "events"), "Project activated"},
		"memories": {s.at(s.green, "memories"), "Memories"},
	}
	for look, o := range map[string]browsertest.Options{
		"light":             {},
		"dark":              {Dark: true},
		"dark narrow still": {Width: 390, Height: 844, Dark: true, ReducedMotion: true},
	} {
		p.Look(t, o)
		for name, view := range views {
			p.Go(t, view.address)
			p.AwaitText(t, mainPart, view.text)
			p.Audit(t, name+", "+look)
			p.Picture(t, name+" "+look)
			if wide := p.WiderThanWindow(t); len(wide) != 0 {
				t.Errorf("%s, %s: %q", name, look, wide)
			}
			if o.ReducedMotion {
				if moving := browsertest.Eval[int](t, p, "document.getAnimations().filter(one => one.playState === 'running').length"); moving != 0 {
					t.Errorf("%s: %d animations run where motion is not wanted", name, moving)
				}
			}
		}
	}
	s.widths(t)
	p.Look(t, browsertest.Options{})
}

// widths: whatever the window, the names of the servers can be read and no
// button of theirs is cut off.
func (s *street) widths(t *testing.T) {
	p := s.page
	p.Go(t, s.address)
	for _, width := range []int{390, 768, 900, 960, 1000, 1001, 1024, 1100, 1200, 1239, 1240, 1280, 1499, 1500, 1719, 1720, 1920} {
		p.Look(t, browsertest.Options{Width: width, Height: 800})
		p.Settle(t)
		narrow := browsertest.Eval[[]string](t, p, `(() => {
			const box = document.querySelector('.table-box'), edge = box.getBoundingClientRect(), wrong = [];
			if (box.scrollWidth > box.clientWidth) wrong.push('the table is ' + box.scrollWidth + ' wide in ' + box.clientWidth);
			for (const cell of document.querySelectorAll('.servers .cell-server, .servers thead .head-server')) {
				const { width } = cell.getBoundingClientRect();
				if (cell.checkVisibility() && width < 150) wrong.push(cell.textContent + ' has ' + width);
			}
			for (const button of document.querySelectorAll('.cell-actions button:not([hidden])')) {
				const cell = button.closest('td').getBoundingClientRect(), { left, right } = button.getBoundingClientRect();
				if (left < cell.left || right > Math.min(cell.right, edge.right)) wrong.push(button.textContent + ' is cut off');
			}
			return wrong;
		})()`)
		if len(narrow) != 0 {
			t.Errorf("at %d: %q", width, narrow)
		}
		p.Picture(t, fmt.Sprintf("overview at %d", width))
	}
}
