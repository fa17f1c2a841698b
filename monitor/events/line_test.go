package events

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

func TestEncode(t *testing.T) {
	e := monitor.Event{
		At: time.Date(2026, 11, 20, 13, 0, 0, 123456789, time.FixedZone("", 3600)), Kind: monitor.EventZombieDetected,
		ID: "12-34", PID: 12, Label: "24282 - al\x1b[2Jpha", Detail: "suspended:\n <it> & \u202eso",
	}
	got, err := encode(e)
	const want = `{"at":"2026-11-20T12:00:00.123Z","kind":"zombie_detected","id":"12-34","pid":12,"label":"24282 - al[2Jpha","detail":"suspended: <it> & so"}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	e.Kind, e.FreedBytes = monitor.EventEnded, 640_000_000
	if got, err := encode(e); err != nil || !bytes.HasSuffix(got, []byte(`so","freed_bytes":640000000}`+"\n")) {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := encode(monitor.Event{At: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a year that RFC 3339 cannot express passes")
	}
}

// What is written is one line within the bounds, reads as the same event, and
// writes as the same line again.
func TestEncodeParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		foreign := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes")), rapid.SampledFrom([]int{1, 1, 1, 5000}).Draw(t, "times"))
		})
		e := monitor.Event{
			At:    noon.Add(time.Duration(rapid.Int64().Draw(t, "after"))),
			Kind:  monitor.EventKind("k" + foreign.Draw(t, "kind")),
			PID:   rapid.Int().Draw(t, "pid"),
			ID:    foreign.Draw(t, "id"),
			Label: foreign.Draw(t, "label"), Detail: foreign.Draw(t, "detail"),
			FreedBytes: rapid.Uint64().Draw(t, "freed"),
		}
		text, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		body, ended := bytes.CutSuffix(text, []byte("\n"))
		if !ended || len(body) > longestLine || bytes.ContainsFunc(body, monitor.Unprintable) {
			t.Fatalf("%d bytes: %.300q", len(text), text)
		}
		back, err := parse(body)
		if err != nil {
			t.Fatal(err)
		}
		again, err := encode(back)
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("%.300q is %.300q when written again (%v)", text, again, err)
		}
	})
}

// However the bytes arrive, the same lines come out.
func TestSplitter(t *testing.T) {
	split := func(pieces ...[]byte) []string {
		var s splitter
		var lines []string
		each := func(line []byte) {
			if line == nil {
				lines = append(lines, "too long")
				return
			}
			lines = append(lines, string(line))
		}
		for _, p := range pieces {
			s.feed(p, each)
		}
		s.end(each)
		return lines
	}
	long := strings.Repeat("x", longestLine)
	for text, want := range map[string]string{
		"": "", "\n\n \n": "", "a": "a", "a\nb": "a|b", "a\r\n\nb\n": "a|b", long: long, long + "y\nb": "too long|b", "a\n" + long + "y": "a|too long",
	} {
		if got := strings.Join(split([]byte(text)), "|"); got != want {
			t.Errorf("%.20q: %.40q", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "\n", " ", "\r\n", "bc", long[:40000]})).Draw(t, "text"), ""))
		want := strings.Join(split(text), "|")
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := strings.Join(split(pieces...), "|"); got != want {
			t.Errorf("%d pieces change the lines", len(pieces))
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		line(1), `{}`, `null`, `[]`, `{"at":"2026-11-20T12:00:00Z","kind":"x"}`, `{"at":"2026-11-20T12:00:00Z","kind":"\u001b[2J"}`,
		`{"at":"0001-01-01T00:00:00Z","kind":"x"}`, `{"at":"9999-12-31T23:59:59-23:59","kind":"x"}`, `{"at":1,"kind":"x"}`,
		`{"at":"2026-11-20T12:00:00Z","kind":"x","pid":1e999}`, `{"at":"2026-11-20T12:00:00Z","kind":"x","label":"` + "\xff\u202e" + `","new":{}}`, "{\"at\":",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parse(line)
		if err != nil {
			return
		}
		for _, s := range []string{string(e.Kind), e.ID, e.Label, e.Detail} {
			if !utf8.ValidString(s) || strings.ContainsFunc(s, monitor.Unprintable) {
				t.Errorf("%q of %q", s, line)
			}
		}
		if e.At.IsZero() || e.Kind == "" {
			t.Errorf("%q passes", line)
		}
	})
}
