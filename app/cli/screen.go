package cli

import (
	"os"
	"strings"
)

// screen is what is known about the terminal that an output is.
type screen struct {
	colour bool
	width  int // columns; 0: unknown or no terminal
	height int // lines, likewise
}

// screenOf looks at a file, which may be no terminal. Colour is for terminals
// that know it, unless NO_COLOR is set to anything (no-color.org).
func screenOf(f *os.File, getenv func(string) string) (s screen, terminal bool) {
	width, height, ok := windowSize(f)
	if !ok {
		return screen{}, false
	}
	return screen{
		colour: getenv("NO_COLOR") == "" && getenv("TERM") != "dumb",
		width:  width,
		height: height,
	}, true
}

// redraw puts text in the place of what was drawn before. Each line clears its
// own rest, so that nothing flickers. What does not fit is counted.
func (s screen) redraw(text string, first bool) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if s.height > 2 && len(lines) > s.height-1 {
		lines = append(lines[:s.height-2], "… (more than fits; make the window higher)")
	}
	const home, clearLine, clearRest, clearAll = "\x1b[H", "\x1b[K\n", "\x1b[J", "\x1b[2J"
	start := home
	if first {
		start = clearAll + home
	}
	return start + strings.Join(lines, clearLine) + clearLine + clearRest
}
