package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Thing is what a user looks for: the first that has the role and whose name
// contains the words, as a screen reader tells them.
type Thing struct {
	Role, Name string
	Within     string // a selector; default the whole page
}

// Button, Tab, Link and Field are the usual things.
func Button(name string) Thing { return Thing{Role: "button", Name: name} }

// Tab is a tab.
func Tab(name string) Thing { return Thing{Role: "tab", Name: name} }

// Link is a link.
func Link(name string) Thing { return Thing{Role: "link", Name: name} }

// Field is a field for text.
func Field(name string) Thing { return Thing{Role: "textbox", Name: name} }

// In is the same thing, looked for below a selector.
func (g Thing) In(selector string) Thing { g.Within = selector; return g }

// String names it in messages.
func (g Thing) String() string {
	if g.Within == "" {
		return fmt.Sprintf("%s %q", g.Role, g.Name)
	}
	return fmt.Sprintf("%s %q in %s", g.Role, g.Name, g.Within)
}

// Found is a thing as it is told to a screen reader.
type Found struct {
	Name, Description string
	Properties        map[string]string // such as selected, disabled, expanded, focused
	node              *accessibility.Node
}

// Find returns all things that match, in the order of the page, which must not
// be hidden.
func (p *Page) Find(t testing.TB, g Thing) []Found {
	t.Helper()
	all, err := p.find(g)
	if err != nil {
		t.Fatalf("looking for %v: %v", g, err)
	}
	return all
}

func (p *Page) find(g Thing) ([]Found, error) {
	where := "document"
	if g.Within != "" {
		where = "document.querySelector(" + quote(g.Within) + ")"
	}
	root, err := run(p, chromedp.Evaluate[*runtime.RemoteObject](where))
	if err != nil || root == nil || root.ObjectID == "" {
		return nil, err
	}
	defer func() {
		_, _ = ask(p, runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: root.ObjectID})
	}()
	tree, err := ask(p, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{ObjectID: root.ObjectID, Role: g.Role})
	if err != nil {
		return nil, err
	}
	var all []Found
	for _, node := range tree.Nodes {
		if node.Ignored {
			continue
		}
		f := Found{Name: text(node.Name), Description: text(node.Description), Properties: map[string]string{}, node: node}
		if !strings.Contains(f.Name, g.Name) {
			continue
		}
		for _, property := range node.Properties {
			f.Properties[property.Name.String()] = text(property.Value)
		}
		all = append(all, f)
	}
	return all, nil
}

// text is a value of the accessibility tree as text.
func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var s string
	if err := json.Unmarshal([]byte(v.Value), &s); err != nil {
		return string(v.Value)
	}
	return s
}

// AwaitThing waits until there is one that matches, and returns the first.
func (p *Page) AwaitThing(t testing.TB, g Thing) Found {
	t.Helper()
	var found []Found
	p.await(t, "there is a "+g.String(), func() bool {
		all, err := p.find(g)
		found = all
		return err == nil && len(all) > 0
	}, func() string { return "of this role there are: " + p.names(Thing{Role: g.Role, Within: g.Within}) })
	return found[0]
}

// AwaitNoThing waits until there is none that matches.
func (p *Page) AwaitNoThing(t testing.TB, g Thing) {
	t.Helper()
	p.await(t, "there is no "+g.String(), func() bool {
		all, err := p.find(g)
		return err == nil && len(all) == 0
	}, func() string { return "" })
}

func (p *Page) names(g Thing) string {
	all, err := p.find(g)
	if err != nil {
		return err.Error()
	}
	names := make([]string, 0, len(all))
	for _, f := range all {
		names = append(names, f.Name)
	}
	return fmt.Sprintf("%q", names)
}

// Click waits for a thing that can be clicked, and clicks it with the mouse.
func (p *Page) Click(t testing.TB, g Thing) {
	t.Helper()
	var why string
	p.await(t, g.String()+" can be clicked", func() bool {
		var x, y float64
		x, y, why = p.spot(g)
		if why != "" {
			return false
		}
		if _, err := run(p, chromedp.MouseClickXY(x, y)); err != nil {
			why = err.Error()
			return false
		}
		return true
	}, func() string { return why })
}

// spot is where to click a thing, or why it cannot be clicked.
func (p *Page) spot(g Thing) (x, y float64, why string) {
	all, err := p.find(g)
	if err != nil {
		return 0, 0, err.Error()
	}
	usable := slices.DeleteFunc(all, func(f Found) bool { return f.Properties["disabled"] == "true" })
	if len(usable) == 0 {
		return 0, 0, fmt.Sprintf("there is none; of this role there are: %s", p.names(Thing{Role: g.Role, Within: g.Within}))
	}
	var spot struct {
		X, Y float64
		Over string
	}
	if err := p.on(usable[0], &spot, `function () {
		this.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'})
		const box = this.getBoundingClientRect()
		const x = box.x + box.width / 2, y = box.y + box.height / 2
		const hit = document.elementFromPoint(x, y)
		const over = hit && (this.contains(hit) || hit.contains(this)) ? '' : String(hit?.outerHTML ?? 'nothing').slice(0, 200)
		return JSON.stringify({x, y, over})
	}`); err != nil {
		return 0, 0, err.Error()
	}
	if spot.Over != "" {
		return 0, 0, "another element is above it: " + spot.Over
	}
	return spot.X, spot.Y, ""
}

// Focus puts the focus on a thing without a click.
func (p *Page) Focus(t testing.TB, g Thing) {
	t.Helper()
	found := p.AwaitThing(t, g)
	if err := p.on(found, nil, "function () { this.focus(); return 'null' }"); err != nil {
		t.Fatalf("focusing %v: %v", g, err)
	}
}

// on calls a function, whose answer is JSON, on the element of a thing.
func (p *Page) on(f Found, into any, function string) error {
	_, err := run(p, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		resolved, err := chromedp.Call(ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: f.node.BackendDOMNodeID})
		if err != nil {
			return err
		}
		id := resolved.Object.ObjectID
		answer, err := chromedp.CallFunctionOn[string](function, func(c *runtime.CallFunctionOnParams) { c.ObjectID = id })(ctx, target)
		_, _ = chromedp.Call(ctx, runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: id})
		if err != nil || into == nil {
			return err
		}
		return json.Unmarshal([]byte(answer), into)
	}))
	return err
}

// Focused is what has the focus, as its role and its name.
func (p *Page) Focused(t testing.TB) string {
	t.Helper()
	root, err := run(p, chromedp.Evaluate[*runtime.RemoteObject]("document.activeElement"))
	if err != nil || root == nil || root.ObjectID == "" {
		return ""
	}
	tree, err := ask(p, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: root.ObjectID})
	if err != nil || len(tree.Nodes) == 0 {
		return ""
	}
	return text(tree.Nodes[0].Role) + " " + text(tree.Nodes[0].Name)
}

// Press presses keys, one after the other: characters, or those of the package
// kb such as kb.Tab. To the page they come within a moment, however long each takes
// to get there.
func (p *Page) Press(t testing.TB, keys ...string) {
	t.Helper()
	began := time.Now()
	for i, key := range keys {
		at := input.TimeSinceEpoch(float64(began.Add(time.Duration(i)*time.Millisecond).UnixMicro()) / 1e6)
		p.do(t, fmt.Sprintf("pressing %q", key), chromedp.KeyEvent(key, func(e *input.DispatchKeyEventParams) { e.Timestamp = at }))
	}
}

// pressWith presses a key together with others.
func (p *Page) pressWith(t testing.TB, key string, modifiers ...chromedp.Modifier) {
	t.Helper()
	p.do(t, fmt.Sprintf("pressing %q", key), chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// Fill replaces the text of a field by typing.
func (p *Page) Fill(t testing.TB, field Thing, words string) {
	t.Helper()
	p.Click(t, field)
	p.await(t, field.String()+" has the focus", func() bool {
		var has bool
		found, err := p.find(field)
		if err == nil && len(found) > 0 {
			err = p.on(found[0], &has, "function () { return String(this === document.activeElement) }")
		}
		if !has { // what was there has moved in the moment of the click
			p.Click(t, field)
		}
		return err == nil && has
	}, func() string { return "it is on " + p.Focused(t) })
	p.pressWith(t, "a", chromedp.ModifierCtrl)
	p.Press(t, words)
}
