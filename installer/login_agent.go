package installer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// launchAgents is start at login on macOS.
type launchAgents struct {
	dirs   []string // directories of launch agents, the user's first where there is one
	own    string   // the user's, "" for none
	socket string   // where clients connect to
	uid    int
}

func (i *Installer) launchd() launchAgents {
	l := launchAgents{socket: i.userSocket(), uid: os.Getuid()}
	if filepath.IsAbs(i.o.Home) {
		l.own = filepath.Join(i.o.Home, "Library", "LaunchAgents")
		l.dirs = append(l.dirs, l.own)
	}
	l.dirs = append(l.dirs, "/Library/LaunchAgents")
	return l
}

func (l launchAgents) entries() ([]LoginEntry, *LoginEntry) {
	var list []LoginEntry
	for _, dir := range l.dirs {
		files, _ := os.ReadDir(dir) // none where there is no such directory
		for _, file := range files {
			name := strings.ToLower(file.Name())
			if !strings.Contains(name, "lamplighter") || !strings.HasSuffix(name, ".plist") {
				continue
			}
			e := LoginEntry{How: howAgent, Path: filepath.Join(dir, file.Name())}
			content, err := readSmall(e.Path)
			if e.Err = err; err == nil {
				var a agent
				a, e.Err = parseAgent(string(content))
				e.On, e.Program = e.Err == nil && !a.disabled, a.program
				e.Ours = dir == l.own && file.Name() == agentName && file.Type().IsRegular() && isOurs(content)
			}
			list = append(list, e)
		}
	}
	return list, nil
}

func (l launchAgents) domain() string { return "gui/" + strconv.Itoa(l.uid) }

func (l launchAgents) on(programs Programs, o InstallOptions) (Plan, error) {
	var p Plan
	if l.own == "" {
		return p, fmt.Errorf("cannot start at login: %w that could hold what does it. Set HOME", ErrNoHome)
	}
	if o.Headless {
		return p, errors.New("cannot start at login without a desktop: launch agents of macOS belong to one. Leave out --headless, or install with --no-login")
	}
	socket := l.socket
	if len(socket) > longestSocket {
		p.Notes = append(p.Notes, "launchd does not listen for clients: the path "+shown(socket)+" is too long for a socket.")
		socket = ""
	}
	text, err := launchAgent(programs.Main, socket)
	if err != nil {
		return Plan{}, err
	}
	path := filepath.Join(l.own, agentName)
	known := there(path)
	if err := p.put(path, markedList(text), o.Replace, "so that it starts at login"); err != nil {
		return Plan{}, err
	}
	if len(p.Changes) == 0 {
		return p, nil
	}
	if known {
		p.run("so that launchd forgets the old one", "launchctl", "bootout", l.domain()+"/"+agentLabel)
	}
	p.run("so that launchd does not leave it out", "launchctl", "enable", l.domain()+"/"+agentLabel)
	p.run("so that launchd knows it now", "launchctl", "bootstrap", l.domain(), path)
	return p, nil
}

// markedList is the text of a property list, as one of ours. Its first line is
// that of every XML document.
func markedList(text string) []byte {
	head, rest, _ := strings.Cut(text, "\n")
	return []byte(head + "\n<!-- " + marker + " -->\n" + rest)
}

func (l launchAgents) off() (Plan, error) {
	var p Plan
	if l.own != "" {
		p.drop(filepath.Join(l.own, agentName), "start at login")
	}
	for _, e := range l.others() {
		p.note(othersStay(e))
	}
	if len(p.Changes) > 0 {
		p.run("so that launchd forgets it", "launchctl", "bootout", l.domain()+"/"+agentLabel)
	}
	return p, nil
}

func (l launchAgents) others() []LoginEntry {
	list, _ := l.entries()
	return slices.DeleteFunc(list, func(e LoginEntry) bool { return !e.On || e.Ours })
}

func (l launchAgents) silence(p *Plan) error {
	for _, e := range l.others() {
		return fmt.Errorf("%s starts it, and %w. Remove it there", shown(e.Path), ErrForeign)
	}
	p.Notes = nil
	return nil
}

func (l launchAgents) odd(Login) string { return "" }

// resident leaves out launchctl but for what only notes something: bootout would
// end the running one, and bootstrap would take the path of its socket over.
func (l launchAgents) resident(p *Plan) {
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool { return c.Op == OpRun && !slices.Contains(c.Command, "enable") })
}
