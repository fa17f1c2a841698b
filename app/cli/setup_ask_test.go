package cli

import (
	"context"
	"io"
	"maps"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

func TestSetupAsks(t *testing.T) {
	const question = "Change this file? [y/N] "
	const pageQuestion = "Serena opens a page of its own for every server. Stop that? [y/N] "
	for name, test := range map[string]struct {
		args, typed string
		page        bool
		said        string
		acts        bool
		noPage      bool
	}{
		"yes":                  {"setup", "y\n", false, question, true, false},
		"YES":                  {"setup", " Yes \r\n", false, question, true, false},
		"no":                   {"setup", "n\n", false, question, false, false},
		"enter":                {"setup", "\n", false, question, false, false},
		"the end":              {"setup", "", false, question + "\n", false, false},
		"something":            {"setup", "yep\n", false, question, false, false},
		"much":                 {"setup", strings.Repeat("y", 1<<16), false, question + "\n", false, false},
		"an unfinished line":   {"setup", "y", false, question + "\n", true, false},
		"the page too":         {"setup", "y\ny\n", true, pageQuestion + question, true, true},
		"the page not":         {"setup", "n\ny\n", true, pageQuestion + question, true, false},
		"no, and no page":      {"setup", "y\nn\n", true, pageQuestion + question, false, false},
		"the page is said":     {"setup --no-page", "y\n", true, question, true, true},
		"undo":                 {"setup --undo", "y\n", true, "Undo it in this file? [y/N] ", true, false},
		"undo, no":             {"setup --undo", "\n", true, "Undo it in this file? [y/N] ", false, false},
		"entries of a name":    {"setup --server serena", "y\n", false, question, true, false},
		"a client is no guess": {"setup codex", "", false, "", true, false},
	} {
		d := newDesktop(t)
		f := d.withSettings(t)
		if test.page {
			f.page()
		}
		d.keyboard = strings.NewReader(test.typed)
		status := d.runs(t, strings.Fields(test.args)...)
		said := d.err.String()
		if before, behind, warned := strings.Cut(said, "lamplighter: "); warned { // that we run from a temporary folder
			said = before + behind[strings.Index(behind, "\n")+1:]
		}
		if status != statusFine || said != test.said {
			t.Errorf("%s: status %d, said %q", name, status, said)
		}
		acted := len(f.asked) > 0 && !f.asked[len(f.asked)-1].DryRun
		if acted != test.acts || acted && f.asked[len(f.asked)-1].NoPage != test.noPage {
			t.Errorf("%s: asked for %+v", name, f.asked)
		}
		if test.said != "" && !f.asked[0].DryRun {
			t.Errorf("%s: not shown first", name)
		}
		// What is done is what was shown.
		if acted && test.said != "" && (f.asked[0].NoPage != test.noPage || !maps.Equal(f.asked[1].Expect, map[string]string{f.result.Changes[0].Path: "5e1f"})) {
			t.Errorf("%s: asked for %+v", name, f.asked)
		}
		if !acted {
			apptest.Contains(t, d.out.String(), "-command = 'serena'\n+command = 'lamplighter-connect'\n", "Nothing was changed.\n")
		}
		if said := strings.Count(d.out.String(), "--no-page"); said != 0 && test.said != "" {
			t.Errorf("%s: told what was asked", name)
		}
	}
}

// stuck is a terminal at which nobody types.
type stuck struct{ closed chan struct{} }

func (s stuck) Read([]byte) (int, error) { <-s.closed; return 0, io.EOF }

func TestSetupInterrupted(t *testing.T) {
	d := newDesktop(t)
	f := d.withSettings(t)
	keyboard := stuck{make(chan struct{})}
	defer close(keyboard.closed)
	d.keyboard = keyboard
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- d.main(ctx, []string{"setup"}) }()
	apptest.Eventually(t, "the question", func() bool { return strings.Contains(d.err.String(), "[y/N]") })
	cancel()
	if status := <-ended; status != statusFailed || len(f.asked) != 1 {
		t.Errorf("status %d, asked %v", status, f.asked)
	}
	apptest.Contains(t, d.err.String(), "setup: interrupted; nothing was changed")
}

// What was done before an interruption is told.
func TestSetupInterruptedAtWork(t *testing.T) {
	for args, want := range map[string]string{"setup --yes": codexChanged + "Restart Codex to use it.\n", "setup --yes --json": `"path":`} {
		d := newDesktop(t)
		f := d.withSettings(t)
		f.page()
		f.result.Running, f.err = []string{"Codex"}, context.Canceled
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if status := d.main(ctx, strings.Fields(args)); status != statusFailed {
			t.Errorf("%s: status %d", args, status)
		}
		apptest.Contains(t, d.err.String(), "setup: interrupted; the files that are not named were left as they are")
		if got := slashed(d.out.String()); !strings.Contains(got, want) || want[0] != '"' && got != want {
			t.Errorf("%s: said %q", args, got)
		}
	}
}
