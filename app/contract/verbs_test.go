//go:build contract && linux

package contract

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// The exit statuses of the contract.
const (
	fine        = 0
	failed      = 1
	usage       = 2
	unreachable = 69
)

func TestVerbs(t *testing.T) {
	for column, w := range []*world{home, another(t, "")} { // with the daemon, and without
		known := map[string]string{"alpha": strconv.Itoa(alpha.pid()), "dir": alpha.project}
		for _, row := range table(t, "verbs.txt") {
			if row[0] == "flags" {
				w.hasFlags(t, row[1], cell(row, 2))
			} else if row[column] != "-" {
				status := number(t, row[column])
				p := w.run(t, strings.Fields(fill(row[2], known))...)
				p.ends(t, status)
				p.printed(t, row[2], status, cell(row, 3))
				var session granted
				if json.Unmarshal([]byte(p.out.String()), &session) == nil && session.ID != 0 {
					known["session"] = strconv.Itoa(session.ID)
				}
			}
		}
	}
	home.opens(t, "http://127.0.0.1:25282/global-dashboard/")
	home.opens(t, "http://127.0.0.1:"+strconv.Itoa(alpha.port)+"/dashboard/")
}

// hasFlags checks that a verb has these flags and names them in its help, and takes
// no other.
func (w *world) hasFlags(t *testing.T, verb, flags string) {
	t.Helper()
	w.does(t, usage, append(strings.Fields(verb), "--nosuch")...)
	told := w.does(t, fine, append(strings.Fields(verb), "--help")...)
	for _, name := range strings.Fields(flags) {
		check(t, regexp.MustCompile(`(?m)^ .*--`+name+`\b`).MatchString(told), "%s has no --%s:\n%s", verb, name, told)
	}
}

// sentence is what is said of a failure: some words.
var sentence = regexp.MustCompile(`\w+ \w+ \w+`)

// printed checks what holds for all verbs, where nothing is a terminal.
func (p *process) printed(t *testing.T, line string, status int, shape string) {
	t.Helper()
	out, said := p.out.String(), p.err.String()
	check(t, !strings.ContainsAny(out+said, "\x1b\r"), "%s: signs for a terminal: %q %q", line, out, said)
	// What failed of several is told among them.
	told := sentence.MatchString(said) || strings.Contains(out, `"error":"`)
	check(t, status == fine || told, "%s: exit status %d without a word: %q %q", line, status, out, said)
	switch {
	case shape == "":
		check(t, status == fine || out == "", "%s: it failed, and printed %q", line, out)
	case shape == "event": // a line each
		for one := range strings.Lines(out) {
			fits(t, line, shape, []byte(one))
		}
	case status == fine || out != "":
		fits(t, line, shape, []byte(out))
	}
}

// opens waits until the browser was asked to open an address.
func (w *world) opens(t *testing.T, address string) {
	t.Helper()
	apptest.Eventually(t, "the browser opens "+address, func() bool { return strings.Contains(read(w.path("opened")), address) })
}

// git runs git in a directory and returns what it prints.
func git(t *testing.T, dir, line string) string {
	t.Helper()
	return home.start(t, nil, append([]string{"git", "-C", dir}, strings.Fields(line)...)...).ends(t, fine)
}

// repository makes a repository of git with one commit.
func repository(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = home.project(t, name)
	for _, line := range []string{"init -q -b main", "config user.name Ada", "config user.email ada@example.com", "add -A", "commit -qm first"} {
		git(t, dir, line)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a file in it may be written to still
	return dir
}
