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

	"lamplighter/app/project"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// inOtherWords are the variables that the key does not hold as they are: where
// programs are found counts, and which home.
var inOtherWords = []string{"PATH", "HOME", "USERPROFILE", "SERENA_HOME"}

// key is what a server is shared by, and the facts that it is made of.
func (w *wish) key() (sum string, facts []string) {
	program := append([]string{plainDir(w.program[0])}, w.program[1:]...)
	arguments := w.words()
	variables := maps.Clone(w.env)
	maps.DeleteFunc(variables, func(name, _ string) bool { return slices.Contains(inOtherWords, name) })
	// Quoted, so that no two lists of texts look the same; maps are written in order.
	sum = hashed(fmt.Sprintf("%q", []any{w.root, program, w.version, arguments, w.directory, w.home, w.serenaHome, w.tools, variables}))[:32]

	project := "no project"
	if w.root != "" {
		project = "project " + w.root
	}
	facts = []string{
		project, "Serena " + w.version + ", started with " + monitor.Quoted(program), "context " + w.context + ", arguments " + monitor.Quoted(arguments),
		"home " + w.home, "SERENA_HOME " + w.serenaHome,
	}
	for _, tool := range w.tools {
		if tool.path != "" {
			facts = append(facts, "PATH finds "+tool.name+" at "+tool.path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) { // a value may be a password
		facts = append(facts, "variable "+name+" (value with the hash "+hashed(name + "=" + variables[name])[:8]+")")
	}
	for i, fact := range facts {
		facts[i] = monitor.Clean(password.ReplaceAllString(fact, "://…@"))
	}
	return sum, facts
}

// password is what a URL may hold.
var password = regexp.MustCompile(`://[^/@\s]+@`)

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// fingerprint tells apart the settings and the program as they are now.
func (a *Planner) fingerprint(w *wish) string {
	what := fmt.Sprintf("%q", []any{w.serenaHome, w.root, w.modes, w.context})
	sum, err := project.Look(context.Background(), &a.looks, what, w.program[0], w.sum)
	if err != nil {
		return "unknown " + rand.Text()
	}
	return sum
}

// Bounds of what is read: settings are small, and a project's may be anything.
const (
	mostSettings = 1 << 20 // bytes of a file
	mostFiles    = 500     // of a pattern
)

// sum is of what Serena's answers to initialize and tools/list come from. Of the program
// size and time count: what starts Serena is written anew with it. Of memories only the
// names do. Sources: serena/config/serena_config.py (SerenaPaths) and context_mode.py.
func (w *wish) sum(program string) string {
	memories := files(w.serenaHome, "memories/global/*")
	settings := files(w.serenaHome, "serena_config.yml", "contexts/*.y*ml", "modes/*.y*ml", "prompt_templates/*.y*ml")
	if w.root != "" {
		memories = append(memories, files(w.root, ".serena/memories/*")...)
		settings = append(settings, files(w.root, ".serena/*.y*ml")...)
	}
	for _, path := range append(slices.Clip(w.modes), w.context) {
		if filepath.IsAbs(path) {
			settings = append(settings, path)
		}
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q\n", program, memories)
	if info, err := os.Stat(program); err == nil {
		fmt.Fprintln(hash, info.Size(), info.ModTime().UnixNano())
	}
	for _, path := range settings {
		at, err := filepath.EvalSymlinks(path) // settings are often links to where a person keeps them
		if err != nil {
			at = path
		}
		text, err := statefile.Read(at, mostSettings)
		fmt.Fprintf(hash, "%q %q %v\n", path, text, err)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// files are those of a directory that fit the patterns. What cannot be read is not there.
func files(dir string, patterns ...string) (list []string) {
	for _, pattern := range patterns {
		found, _ := fs.Glob(os.DirFS(dir), pattern)
		for _, name := range found[:min(len(found), mostFiles)] {
			list = append(list, filepath.Join(dir, name))
		}
	}
	return list
}
