package notify

import (
	"encoding/xml"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"lamplighter/monitor"
)

// buttons are those of an announcement.
var buttons = []Action{{Key: "keep", Words: "Keep for 1 h"}, {Key: "stop", Words: "Stop now"}}

func TestCompose(t *testing.T) {
	const elsewhere = "In the menu or on the page of Lamplighter: Keep for 1 h, Stop now."
	all := abilities{body: true, markup: true, actions: true}
	for name, test := range map[string]struct {
		n    Notification
		can  abilities
		want message
	}{
		"everything": {Notification{Summary: "s", Body: "b", Actions: buttons}, all, message{"s", "b", buttons}},
		"no buttons": {Notification{Summary: "s", Body: "b", Actions: buttons}, abilities{body: true}, message{"s", "b\n" + elsewhere, nil}},
		"nothing to press": {Notification{Summary: "s", Body: "b", Actions: []Action{{Key: defaultKey, Words: "Open"}}}, abilities{body: true},
			message{"s", "b", nil}},
		"a press on the notification": {Notification{Summary: "s", Actions: []Action{{Key: defaultKey, Words: "Open"}}}, all,
			message{"s", "", []Action{{Key: defaultKey, Words: "Open"}}}},
		"a summary alone":  {Notification{Summary: "s", Body: "b\nc", Actions: buttons}, abilities{}, message{"s: b c " + elsewhere, "", nil}},
		"no body":          {Notification{Summary: "s"}, abilities{}, message{"s", "", nil}},
		"markup":           {Notification{Summary: "<b>&", Body: `<a href="x">&amp;</a>`}, all, message{"<b>&", `&lt;a href="x"&gt;&amp;amp;&lt;/a&gt;`, nil}},
		"no markup":        {Notification{Summary: "<b>&", Body: "<b>&amp;"}, abilities{body: true}, message{"<b>&", "<b>&amp;", nil}},
		"unclean":          {Notification{Summary: "a\n\x1b[31mb\u202e", Body: " c\x00 \r\n\n\td\xff", Actions: []Action{{"k", "e\nf"}}}, all, message{"a [31mb", "c\nd\ufffd", []Action{{"k", "e f"}}}},
		"too many lines":   {Notification{Body: strings.Repeat("x\n", 20)}, all, message{"", strings.Repeat("x\n", bodyLines) + "…", nil}},
		"the buttons last": {Notification{Body: strings.Repeat("x\n", 20), Actions: buttons}, abilities{body: true}, message{"", strings.Repeat("x\n", bodyLines) + "…\n" + elsewhere, nil}},
	} {
		if got := compose(test.n, test.can, "Lamplighter"); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
	long := compose(Notification{Summary: strings.Repeat("s", 5000), Body: strings.Repeat("b", 5000), Actions: []Action{{"k", strings.Repeat("w", 5000)}}}, all, "")
	if len(long.summary) > 2*summaryColumns || len(long.body) > 2*lineColumns || len(long.actions[0].Words) > 2*buttonColumns {
		t.Errorf("too long: %+v", long)
	}
}

// A button of the caller is not changed.
func TestComposeLeavesTheCallersActions(t *testing.T) {
	actions := []Action{{Key: "k", Words: "a\nb"}}
	compose(Notification{Actions: actions}, abilities{actions: true}, "")
	if actions[0].Words != "a\nb" {
		t.Error(actions)
	}
}

func TestTame(t *testing.T) {
	for text, want := range map[string]string{
		"4 - alpha ends in 5 min":      "4 - alpha ends in 5 min",
		"$(calc) $env:PATH":            "\uff04(calc) \uff04env:PATH",
		"a]]><script>":                 "a]] ><script>",
		"a]]]>":                        "a]]] >",
		"a`nb":                         "a'nb",
		"one\n\"@\nStart-Process calc": "one \"@ Start-Process calc",
	} {
		if got := tame(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if tameIcon(`C:\Program Files\a.png`) == "" || tameIcon(`C:\Users\$(calc)\a.png`) != "" || tameIcon(`C:\"&\a.png`) != "" {
		t.Error("a path is judged wrongly")
	}
}

// FuzzCompose has names of projects that try to be more than text.
func FuzzCompose(f *testing.F) {
	for _, seed := range []string{"alpha", "<b>a</b>&amp;", "]]>", "$(calc)", "\"@\n$(calc)\n@\"", "a\u2028b\u202ec\x00", "\xff\xfe", "]]\n>"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, summary, body string) {
		n := Notification{Summary: summary, Body: body, Actions: []Action{{Key: "k", Words: summary}}}
		m := compose(n, abilities{body: true, markup: true, actions: true}, "Lamplighter")
		for _, text := range []string{m.summary, m.body, m.actions[0].Words} {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && monitor.Unprintable(r) }) {
				t.Fatalf("%q", text)
			}
		}
		plain := compose(n, abilities{body: true, actions: true}, "Lamplighter")
		if got := textOf(t, m.body); got != plain.body {
			t.Fatalf("%q is read as %q, not %q", m.body, got, plain.body)
		}
		tamed := tame(plain.body)
		if strings.ContainsAny(tamed, "$`\n") || strings.Contains(tamed, "]]>") {
			t.Fatalf("%q", tamed)
		}
	})
}

// textOf is what a reader of markup sees.
func textOf(t *testing.T, markup string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<body>" + markup + "</body>"))
	var b strings.Builder
	for {
		token, err := d.Token()
		switch text := token.(type) {
		case xml.CharData:
			b.Write(text)
		case xml.StartElement:
			if text.Name.Local != "body" {
				t.Fatalf("%q has markup", markup)
			}
		}
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatalf("%q: %v", markup, err)
		}
	}
}
