package cli

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns the terminal's end of a new pair.
func pseudoTerminal(t *testing.T, columns, lines uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal
}

func TestScreenOf(t *testing.T) {
	env := func(list map[string]string) func(string) string { return func(k string) string { return list[k] } }
	terminal := pseudoTerminal(t, 91, 33)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, test := range []struct {
		file     *os.File
		env      map[string]string
		want     screen
		terminal bool
	}{
		{terminal, nil, screen{colour: true, width: 91, height: 33}, true},
		{terminal, map[string]string{"NO_COLOR": "1"}, screen{width: 91, height: 33}, true},
		{terminal, map[string]string{"TERM": "dumb"}, screen{width: 91, height: 33}, true},
		{null, nil, screen{}, false},
	} {
		if got, terminal := screenOf(test.file, env(test.env)); got != test.want || terminal != test.terminal {
			t.Errorf("%s, %v: %+v, %v; want %+v, %v", test.file.Name(), test.env, got, terminal, test.want, test.terminal)
		}
	}
}
