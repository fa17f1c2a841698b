package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"lamplighter/monitor/command"
	"lamplighter/monitor/serena"
)

// maxWord bounds one word of a command line, in bytes: as long as a path may be.
const maxWord = 4096

// Command is a program and what follows it, each word an entry of its own. No
// shell reads it.
type Command []string

// Check tells what is wrong with a command.
func (c Command) Check() error {
	if len(c) == 0 {
		return fmt.Errorf("is empty; write the program and each of its arguments as an entry of its own, such as [uvx, my-server]")
	}
	program := c[0]
	switch {
	case strings.TrimSpace(program) == "":
		return fmt.Errorf("begins with an empty entry; write the program first, such as [uvx, my-server]")
	case strings.ContainsFunc(program, unicode.IsSpace) && !strings.ContainsAny(program, `/\`):
		return fmt.Errorf("%s is one entry, so it would be the name of the program; write each word as an entry of its own: [%s]",
			excerpt(program), strings.Join(strings.Fields(program), ", "))
	}
	return checkWords(c)
}

// Arguments are what follows the command of a Serena server.
type Arguments []string

// Check refuses what no command line can hold, and what is not the user's to
// say: another port or transport than the one that is waited for would make
// every start fail.
func (a Arguments) Check() error {
	if slices.Contains(a, startWord) {
		return fmt.Errorf("holds %s; remove it, it is part of the command", startWord)
	}
	if err := checkWords(a); err != nil {
		return err
	}
	return checkOptions(a)
}

// SerenaCommand is what Serena is called by.
type SerenaCommand []string

// startWord is what makes Serena a server.
const startWord = "start-mcp-server"

// Check is that of a Command. It also refuses what Arguments may not hold, but
// only where Serena reads it: uv has a --project of its own.
func (c SerenaCommand) Check() error {
	if err := Command(c).Check(); err != nil {
		return err
	}
	words := c.ofSerena()
	if len(words) > 0 && words[0] == startWord {
		words = words[1:]
	}
	if slices.Contains(words, startWord) {
		return fmt.Errorf("holds %s twice; remove one", startWord)
	}
	return checkOptions(words)
}

// ofSerena is what stands behind the program, as far as it can be told.
func (c SerenaCommand) ofSerena() []string {
	if i := slices.Index(c, startWord); i > 0 {
		return c[i:]
	}
	if serena.Runs(c) {
		return command.Parse("", c).Args
	}
	return nil
}

// checkOptions refuses options of Serena that every session decides itself. What
// belongs to no option is the project, and would win over the one that is asked
// for. Each option takes a value but those refused here.
//
// Source: start_mcp_server in cli.py of Serena 2.1.0.
func checkOptions(words []string) error {
	value := false // the next word is one
	for _, word := range words {
		option, _, _ := strings.Cut(word, "=")
		switch option {
		case "--transport":
			return fmt.Errorf("holds --transport; remove it and use session_transport")
		case "--host", "--port":
			return fmt.Errorf("holds %s; remove it, every session gets a free port of 127.0.0.1", option)
		case "--project", "--project-file", "--project-from-cwd":
			return fmt.Errorf("holds %s; remove it, who asks for a session names the project", option)
		case "--open-web-dashboard":
			return fmt.Errorf("holds %s; remove it, the page of a session is opened from the menu", option)
		}
		if value {
			value = false
			continue
		}
		if word == "--" || !strings.HasPrefix(word, "-") {
			return fmt.Errorf("holds %s, which belongs to no option, so Serena would take it for the project; remove it", excerpt(word))
		}
		value = !strings.Contains(word, "=")
	}
	if value {
		return fmt.Errorf("ends with %s; add its value", excerpt(words[len(words)-1]))
	}
	return nil
}

func checkWords(words []string) error {
	for _, word := range words {
		if err := checkWord(word); err != nil {
			return err
		}
	}
	return nil
}

// checkWord refuses what the system does not take, and placeholders that
// nothing is put in place of.
func checkWord(word string) error {
	switch {
	case len(word) > maxWord:
		return fmt.Errorf("%s is longer than %d bytes; shorten it", excerpt(word), maxWord)
	case strings.ContainsRune(word, 0):
		return fmt.Errorf("%s holds a NUL character; remove it", excerpt(word))
	}
	return checkPlaceholders(word)
}

// placeholders are put in place of when a server is started.
var placeholders = []string{"port", "port_file", "project"}

var placeholder = regexp.MustCompile(`\{[A-Za-z][A-Za-z0-9_-]*\}`)

func checkPlaceholders(word string) error {
	for _, found := range placeholder.FindAllString(word, -1) {
		name := found[1 : len(found)-1]
		if slices.Contains(placeholders, name) {
			continue
		}
		if near := Nearest(name, placeholders); near != "" {
			return fmt.Errorf("unknown placeholder %s; did you mean {%s}?", excerpt(found), near)
		}
		return fmt.Errorf("unknown placeholder %s; known are {%s}", excerpt(found), strings.Join(placeholders, "}, {"))
	}
	return nil
}
