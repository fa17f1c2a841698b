package share

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lamplighter/app/project"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// inOtherWords are the variables that the key does not hold as they are: where
// programs are found counts, and which home.
var inOtherWords = []string{"PATH", "HOME", "USERPROFILE", "SERENA_HOME"}

// key is what a server is shared by, and the facts that it is made of.
func (w *wish) key() (sum string, facts []string) {
	var k key
	k.add("", "format", "1")
	project := "no project"
	if w.root != "" {
		project = "project " + w.root
	}
	k.add(project, "project", w.root)
	program := append([]string{plainDir(w.program[0])}, w.program[1:]...)
	k.add("Serena "+w.version+", started with "+monitor.Quoted(program), "program", program...)
	k.add("", "version", w.version)
	arguments := w.words()
	k.add("context "+w.context+", arguments "+monitor.Quoted(arguments), "arguments", arguments...)
	k.add("", "directory", w.directory)
	k.add("home "+w.home, "home", w.home)
	k.add("SERENA_HOME "+w.serenaHome, "SERENA_HOME", w.serenaHome)
	for _, tool := range w.tools {
		found := ""
		if tool.path != "" {
			found = "PATH finds " + tool.name + " at " + tool.path
		}
		k.add(found, "tool", tool.name, tool.path)
	}
	for _, name := range slices.Sorted(maps.Keys(w.env)) {
		if !slices.Contains(inOtherWords, name) {
			// A value may be a password.
			k.add("variable "+name+" (value with the hash "+hashed(name + "=" + w.env[name])[:8]+")", "variable", name, w.env[name])
		}
	}
	return hashed(k.text.String())[:32], k.facts
}

// key collects what servers are shared by.
type key struct {
	text  strings.Builder
	facts []string
}

// password is what a URL may hold.
var password = regexp.MustCompile(`://[^/@\s]+@`)

// add puts one thing into the key, so that no two lists of texts look the same, and
// into the facts, if it is worth one.
func (k *key) add(fact, what string, texts ...string) {
	if fact != "" {
		k.facts = append(k.facts, monitor.Clean(password.ReplaceAllString(fact, "://…@")))
	}
	k.text.WriteString(what)
	for _, text := range texts {
		k.text.WriteString(" " + strconv.Itoa(len(text)) + ":" + text)
	}
	k.text.WriteByte('\n')
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// fingerprint tells apart the settings and the program as they are now. Of the program
// size and time count: what starts Serena is written anew with it.
func (a *Planner) fingerprint(w *wish) string {
	list := w.settings()
	sum, err := project.Look(context.Background(), &a.looks, fmt.Sprint(list), w.program[0], func(program string) string { return sumOf(program, list) })
	if err != nil {
		return "unknown " + rand.Text()
	}
	return sum
}

// settings are the files of a directory, by a pattern, that Serena's answers to
// initialize and tools/list come from.
type settings struct {
	dir, pattern string
	names        bool // only those count
}

// settings says where they are. Sources: serena/config/serena_config.py (SerenaPaths) and
// context_mode.py.
func (w *wish) settings() []settings {
	list := []settings{{w.serenaHome, "memories/global/*", true}}
	for _, pattern := range []string{"serena_config.yml", "contexts/*.y*ml", "modes/*.y*ml", "prompt_templates/*.y*ml"} {
		list = append(list, settings{w.serenaHome, pattern, false})
	}
	if w.root != "" {
		list = append(list, settings{w.root, ".serena/memories/*", true}, settings{w.root, ".serena/*.y*ml", false})
	}
	for _, path := range append(slices.Clip(w.modes), w.context) {
		if filepath.IsAbs(path) {
			list = append(list, settings{filepath.Dir(path), literally.Replace(filepath.Base(path)), false})
		}
	}
	return list
}

// literally makes a pattern of a name.
var literally = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// Bounds of what is read: settings are small, and a project's may be anything.
const (
	mostSettings = 1 << 20 // bytes of a file
	mostFiles    = 500     // of a directory
)

func sumOf(program string, list []settings) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q ", program)
	if info, err := os.Stat(program); err == nil {
		fmt.Fprintln(hash, info.Size(), info.ModTime().UnixNano())
	}
	for _, s := range list {
		found, _ := fs.Glob(os.DirFS(s.dir), s.pattern) // what cannot be read is not there
		for _, name := range found[:min(len(found), mostFiles)] {
			path := filepath.Join(s.dir, name)
			fmt.Fprintf(hash, "%q\n", path)
			if s.names {
				continue
			}
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real // settings are often links to where a person keeps them
			}
			text, err := statefile.Read(path, mostSettings)
			fmt.Fprintf(hash, "%q %v\n", text, err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
