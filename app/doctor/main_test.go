package doctor

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// On Windows one goroutine of the pipe library stays, for the whole process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Microsoft/go-winio.ioCompletionProcessor"))
}

// said is what lines say, for a look at one of them.
func said(lines []Line) string {
	var text string
	for _, l := range lines {
		text += string(l.Mark) + ": " + l.Text + " | " + l.Means + " | " + l.Do + "\n"
	}
	return text
}

// worst is the mark of lines that most needs to be seen.
func worst(lines []Line) Mark {
	mark := OK
	for _, l := range lines {
		switch {
		case l.Mark == Broken, l.Mark == Warn && mark == OK:
			mark = l.Mark
		}
	}
	return mark
}
