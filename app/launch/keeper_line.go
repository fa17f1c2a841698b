package launch

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"

	"lamplighter/monitor"
)

// maxLine is the longest line that a keeper may write. A longer one is dropped.
const maxLine = 64 << 10

// keeperLine is one line that a keeper has written: see app/connect.
type keeperLine struct {
	what   string           // "started", "failed", "exited" or "output"
	server monitor.Identity // with started: the direct child
	pid    int              // with exited
	text   string           // why it failed, how it exited in words, or what was printed
}

// parseKeeperLine reads a line without its end.
func parseKeeperLine(line string) (keeperLine, bool) {
	what, rest, _ := strings.Cut(line, " ")
	switch what {
	case "started":
		pid, start, _ := strings.Cut(rest, " ")
		id, err := monitor.ParseIdentity(pid + "-" + start)
		return keeperLine{what: what, server: id}, err == nil
	case "failed":
		return keeperLine{what: what, text: monitor.Clean(rest)}, true
	case "exited":
		pid, status, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(pid)
		words, ok := exitWords(status)
		return keeperLine{what: what, pid: n, text: words}, err == nil && n > 0 && ok
	case "output":
		text, err := strconv.Unquote(rest)
		return keeperLine{what: what, text: text}, err == nil
	}
	return keeperLine{}, false
}

// exitWords puts the status of a process into words.
func exitWords(status string) (string, bool) {
	how, number, _ := strings.Cut(status, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return "", false
	}
	switch {
	case how == "code":
		return "exited with status " + strconv.FormatInt(n, 10), true
	case how == "signal" && n > 0:
		return "was ended by signal " + strconv.FormatInt(n, 10), true
	}
	return "", false
}

// readLines calls each for every line until the end; the last one need not be
// closed. One that is too long is left out.
func readLines(r io.Reader, each func(line string)) error {
	b := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = b.ReadSlice('\n')
			}
			line = nil
		}
		if len(line) > 0 {
			each(strings.TrimSuffix(string(line), "\n"))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
