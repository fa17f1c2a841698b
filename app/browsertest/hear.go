package browsertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// Request is one that a page has sent.
type Request struct {
	Method, URL string
	// Bytes that came over the network, headers included; while the answer is
	// not complete, those of its body so far.
	Bytes  int
	Failed string // why, if it failed
}

// Traffic is what a page has asked for.
type Traffic []Request

// Bytes is how much came over the network.
func (all Traffic) Bytes() int {
	sum := 0
	for _, each := range all {
		sum += each.Bytes
	}
	return sum
}

// Of returns the requests whose address has the part.
func (all Traffic) Of(part string) Traffic {
	return slices.DeleteFunc(slices.Clone(all), func(r Request) bool { return !strings.Contains(r.URL, part) })
}

// String is a line for each request.
func (all Traffic) String() string {
	var text strings.Builder
	for _, each := range all {
		fmt.Fprintf(&text, "%s %s %d B %s\n", each.Method, each.URL, each.Bytes, each.Failed)
	}
	return text.String()
}

type traffic struct {
	order []network.RequestID
	all   map[network.RequestID]*Request
}

// Traffic is everything that the page has asked for since it was opened.
func (p *Page) Traffic() Traffic {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(Traffic, 0, len(p.traffic.order))
	for _, id := range p.traffic.order {
		all = append(all, *p.traffic.all[id])
	}
	return all
}

// Complaints are the errors of the page so far: what it threw, logged as an
// error, or was refused by its Content-Security-Policy, save what is forgiven.
func (p *Page) Complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.said), func(said string) bool {
		return slices.ContainsFunc(p.forgiven, func(part string) bool { return strings.Contains(said, part) })
	})
}

// Forgive lets complaints with the part in them pass: the browser itself logs
// an error for each request that fails, also where the test wants it to.
func (p *Page) Forgive(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgiven = append(p.forgiven, part)
}

// hear takes note of what the browser tells about the page.
func (p *Page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		p.said = append(p.said, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			var text strings.Builder
			for _, arg := range e.Args {
				if arg.Description != "" {
					fmt.Fprintf(&text, " %s", arg.Description)
				} else {
					fmt.Fprintf(&text, " %s", arg.Value)
				}
			}
			p.said = append(p.said, "console."+e.Type.String()+text.String())
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.said = append(p.said, e.Entry.Source.String()+": "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if p.traffic.all == nil {
			p.traffic.all = make(map[network.RequestID]*Request)
		}
		if strings.HasPrefix(e.Request.URL, "data:") {
			return
		}
		// A request that is redirected comes again, under the same id.
		if p.traffic.all[e.RequestID] == nil {
			p.traffic.order = append(p.traffic.order, e.RequestID)
			p.traffic.all[e.RequestID] = &Request{Method: e.Request.Method, URL: e.Request.URL}
		}
	case *network.EventDataReceived:
		if r := p.traffic.all[e.RequestID]; r != nil {
			r.Bytes += int(e.EncodedDataLength)
		}
	case *network.EventLoadingFinished:
		if r := p.traffic.all[e.RequestID]; r != nil {
			r.Bytes = int(e.EncodedDataLength)
		}
	case *network.EventLoadingFailed:
		if r := p.traffic.all[e.RequestID]; r != nil {
			r.Failed = e.ErrorText
		}
	}
}
