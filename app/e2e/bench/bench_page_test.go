//go:build real && bench && linux

package bench

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/browsertest"
	"lamplighter/monitor/serena/serenatest"
)

// How much the page has to show.
const (
	shownServers  = 40
	crowdedPage   = 300
	scrolledPage  = 1000
	loads         = 5
	updates       = 20
	pageWindow    = 20 * time.Second
	pageSettling  = 5 * time.Second
	updateSettles = 300 * time.Millisecond
)

// page measures the page beside Serena's own one, which shows one instance:
// the same real server, first in its page and then in ours. The others are
// stand-ins.
func (b *bench) page(t *testing.T) {
	browser := browsertest.Start(t)
	s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), Args: []string{"--agent-interface", "tools"}})
	port := strconv.Itoa(s.WaitReady(t))
	s.Initialize(t)
	s.Call(t, "find_symbol", map[string]any{"name_path_pattern": "greet"}) // so that there is something to show
	theirs := watched{
		name: "theirs", url: "http://127.0.0.1:" + port + "/dashboard/index.html", asks: "127.0.0.1:" + port,
		ready: "document.body.innerText.includes('find_symbol')", forgive: true,
	}.watch(t, browser, s.ServerPID)

	all := startStandIns(t, shownServers-1)
	p, _, _ := b.run(t)
	watching, stop := stream(t, b.home)
	watching.awaitCount(t, shownServers)
	address := b.home.Page(t)
	<-time.After(settling)
	ours := watched{
		name: "ours", url: address + "#/" + port, asks: "/instance/", ready: "document.getElementById('main').innerText.includes('find_symbol')",
	}.watch(t, browser, s.ServerPID, p.Cmd.Process.Pid)
	b.add(
		row{what: "page, bytes of the first load, 40 instances (today: Serena's page of one)", theirs: theirs.load, ours: ours.load, unit: "kB", target: 130},
		row{what: "… requests of it", theirs: theirs.requests, ours: ours.requests, target: 40},
		row{what: "… requests to other hosts, which fail here", theirs: theirs.foreign, ours: ours.foreign, target: 0},
		row{what: "… first contentful paint, p50 of " + strconv.Itoa(loads), theirs: percentile(theirs.paints, 50), ours: percentile(ours.paints, 50), unit: "ms", target: 500},
		row{what: "page shown, requests to the instance (today: Serena's page)", theirs: theirs.shown.asked, ours: ours.shown.asked, unit: "/s", target: 1},
		row{what: "… bytes of all answers", theirs: theirs.shown.bytes, ours: ours.shown.bytes, unit: "B/s", target: unknown},
		row{what: "… script of the page", theirs: theirs.shown.script, ours: ours.shown.script, unit: "ms/s", target: unknown},
		row{what: "… CPU of the instance", theirs: theirs.shown.cpu[0], ours: ours.shown.cpu[0], unit: "%", target: unknown},
		row{what: "… CPU of lamplighter (today: of the instance)", theirs: theirs.shown.cpu[0], ours: ours.shown.cpu[1], unit: "%", target: 1},
		row{what: "… VmRSS of lamplighter", theirs: unknown, ours: megabytes(t, p.Cmd.Process.Pid, "status", "VmRSS"), unit: "MB", target: 28},
		row{what: "page hidden, requests (today: Serena's page)", theirs: theirs.hidden.all, ours: ours.hidden.all, unit: "/s", target: 0},
		row{what: "… bytes of all answers", theirs: theirs.hidden.bytes, ours: ours.hidden.bytes, unit: "B/s", target: unknown},
		row{what: "… CPU of lamplighter (today: of the instance)", theirs: theirs.hidden.cpu[0], ours: ours.hidden.cpu[1], unit: "%", target: unknown},
	)
	t.Run("updates", func(t *testing.T) { b.updates(t, browser, address, watching, all, shownServers) })
	more := startStandIns(t, crowdedPage-shownServers+updates)
	t.Run("crowd", func(t *testing.T) {
		watching.awaitCount(t, crowdedPage)
		b.updates(t, browser, address, watching, more, crowdedPage)
	})
	startStandIns(t, scrolledPage-crowdedPage+updates)
	t.Run("scrolling", func(t *testing.T) {
		watching.awaitCount(t, scrolledPage)
		b.scrolling(t, browser, address)
	})
	stop()
	p.Signal(t, syscall.SIGTERM)
	p.Status(t)
}

// pageCost is what a page needs.
type pageCost struct {
	load, requests, foreign float64 // the first load: kB and counts
	paints                  []float64
	shown, hidden           pageRates
}

type pageRates struct {
	all, asked, bytes float64 // requests, those to the instance, bytes; per second
	script            float64 // milliseconds per second
	cpu               []float64
}

// watched is a page to measure.
type watched struct {
	name, url string
	asks      string // in the address of requests to the instance
	ready     string // an expression that is true when the page is filled
	forgive   bool   // Serena's page cannot reach its other hosts here
}

// watch loads the page some times, and leaves the last one open, shown and then
// hidden. Each has a profile of its own, and so an empty cache.
func (w watched) watch(t *testing.T, browser *browsertest.Browser, pids ...int) (c pageCost) {
	t.Helper()
	open := func(t *testing.T) *browsertest.Page {
		p := browser.Open(t, w.url, browsertest.Options{})
		if w.forgive {
			p.Forgive("")
		}
		p.Await(t, "the page is filled", w.ready)
		return p
	}
	for i := range loads {
		t.Run(fmt.Sprintf("%s %d", w.name, i), func(t *testing.T) { c.paints = append(c.paints, paint(t, open(t))) })
	}
	p := open(t)
	<-time.After(pageSettling)
	before := p.Traffic()
	for _, r := range before {
		if !strings.Contains(r.URL, "://127.0.0.1:") {
			c.foreign++
		}
	}
	// What was asked again since is not of the first load.
	seen := map[string]bool{}
	for _, r := range before {
		if !seen[r.URL] {
			seen[r.URL] = true
			c.requests++
			c.load += float64(r.Bytes) / 1e3
		}
	}
	t.Logf("%s loads:\n%s", w.name, before)
	c.shown = w.rates(t, p, pids)
	p.Hide(t)
	<-time.After(pageSettling)
	c.hidden = w.rates(t, p, pids)
	return c
}

// paint is when the page first showed something, in milliseconds after the
// navigation began.
func paint(t *testing.T, p *browsertest.Page) float64 {
	t.Helper()
	const first = "performance.getEntriesByName('first-contentful-paint')"
	p.Await(t, "something is painted", first+".length > 0")
	return browsertest.Eval[float64](t, p, first+"[0].startTime")
}

func (w watched) rates(t *testing.T, p *browsertest.Page, pids []int) (r pageRates) {
	t.Helper()
	before, script := p.Traffic(), p.Metrics(t)["ScriptDuration"]
	began := time.Now()
	for _, each := range idleFor(t, pageWindow, pids...) {
		r.cpu = append(r.cpu, each.percent)
	}
	seconds := time.Since(began).Seconds()
	after := p.Traffic()
	r.all = float64(len(after)-len(before)) / seconds
	r.asked = float64(len(after.Of(w.asks))-len(before.Of(w.asks))) / seconds
	r.bytes = float64(after.Bytes()-before.Bytes()) / seconds
	r.script = 1000 * (p.Metrics(t)["ScriptDuration"] - script) / seconds
	return r
}

// noteEnds makes the page note when a tab says that its instance has ended, in
// milliseconds since 1970, by the pid that its label begins with.
const noteEnds = `(() => {
  window.endedAt = {};
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (target.dataset.state === 'ended') endedAt[parseInt(target.title, 10)] ??= performance.timeOrigin + performance.now();
    }
  }).observe(document.getElementById('tabs'), { subtree: true, attributeFilter: ['data-state'] });
  return true;
})()`

// updates measures what the overview of n instances needs to show that one of
// them has ended.
func (b *bench) updates(t *testing.T, browser *browsertest.Browser, address string, watching *sightings, all []*stand, n int) {
	p := browser.Open(t, address, browsertest.Options{})
	p.Await(t, "all are shown", fmt.Sprintf("document.querySelectorAll('#tabs [role=tab]').length > %d", n))
	name := func(what string) string { return fmt.Sprintf("%s, %d instances", what, n) }
	b.add(row{what: name("first contentful paint"), theirs: unknown, ours: paint(t, p), unit: "ms", target: 500})
	browsertest.Eval[bool](t, p, noteEnds)
	<-time.After(pageSettling)
	var script, work, shown []float64
	for i := range updates {
		before := p.Metrics(t)
		killed := time.Now()
		all[i].end()
		watching.awaitGone(t, all[i].port)
		<-time.After(updateSettles)
		after := p.Metrics(t)
		script = append(script, 1000*(after["ScriptDuration"]-before["ScriptDuration"]))
		work = append(work, 1000*(after["TaskDuration"]-before["TaskDuration"]))
		end := fmt.Sprintf("endedAt[%d]", all[i].cmd.Process.Pid)
		p.Await(t, "the tab says that it has ended", end+" !== undefined")
		shown = append(shown, browsertest.Eval[float64](t, p, end)-float64(killed.UnixMicro())/1e3)
	}
	b.add(spread(name("death of a server to its tab in the page"), nil, shown, 150)...)
	b.add(spread(name("script per update"), nil, script, 50)...)
	b.add(spread(name("all work of the page per update"), nil, work, unknown)...)
	b.add(row{what: name("heap of the page"), theirs: unknown, ours: p.Metrics(t)["JSHeapUsedSize"] / 1e6, unit: "MB", target: unknown})
	for _, each := range p.Complaints() {
		t.Errorf("the page complained: %s", each)
	}
}

// scrolled moves the overview as fast as a wheel does, through all rows and back,
// and returns the time from each frame to the next, in milliseconds.
const scrolled = `new Promise((done) => {
  const panel = document.getElementById('panel');
  const frames = [];
  let step = 60;
  let before = performance.now();
  requestAnimationFrame(function frame(now) {
    frames.push(now - before);
    before = now;
    const at = panel.scrollTop;
    panel.scrollTop += step;
    if (panel.scrollTop !== at) requestAnimationFrame(frame);
    else if (step > 0) { step = -step; requestAnimationFrame(frame); } else done(frames.slice(2));
  });
})`

// scrolling measures how smoothly the overview of a thousand instances moves: the
// frames that were drawn, and the work of the page for one, which other programs on
// the machine lengthen less.
func (b *bench) scrolling(t *testing.T, browser *browsertest.Browser, address string) {
	p := browser.Open(t, address, browsertest.Options{})
	p.Await(t, "all are shown", fmt.Sprintf("document.querySelectorAll('#tabs [role=tab]').length > %d", scrolledPage))
	<-time.After(pageSettling)
	before := p.Metrics(t)
	frames := browsertest.Eval[[]float64](t, p, scrolled)
	after := p.Metrics(t)
	what := fmt.Sprintf("scrolling %d instances", scrolledPage)
	work := 1000 * (after["TaskDuration"] - before["TaskDuration"]) / float64(len(frames))
	b.add(spread(what+", from one frame to the next", nil, frames, 17)...)
	b.add(row{what: what + ", work of the page for a frame", theirs: unknown, ours: work, unit: "ms", target: 16})
}
