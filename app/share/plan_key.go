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

// key collects what servers are shared by.
type key struct {
	text  strings.Builder
	facts []string
}

// keyOf makes the key of a plan whose Spec is complete but for the key.
func keyOf(plan *Plan, from origin) *key {
	k := &key{}
	t := &plan.Spec.Template
	k.add("format", "1")
	k.add("project", plan.Spec.Project)
	if plan.Spec.Project == "" {
		k.fact("no project")
	} else {
		k.fact("project " + plan.Spec.Project)
	}
	program := append([]string{identityOf(t.Command[0])}, t.Command[1:]...)
	k.add("program", program...)
	k.add("version", plan.Version)
	k.fact("Serena " + plan.Version + ", started with " + monitor.Quoted(program))
	k.add("arguments", t.Arguments...)
	k.add("directory", t.Directory)
	k.fact("context " + plan.Context)
	if len(t.Arguments) > 0 {
		k.fact("arguments " + monitor.Quoted(t.Arguments))
	}
	k.add("home", from.home)
	k.add("SERENA_HOME", from.serenaHome)
	k.fact("home " + from.home)
	k.fact("SERENA_HOME " + from.serenaHome)
	for _, tool := range from.tools {
		k.add("tool", tool.name, tool.path)
		if tool.path != "" {
			k.fact("PATH finds " + tool.name + " at " + tool.path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		if slices.Contains(inOtherWords, name) {
			continue
		}
		k.add("variable", name, t.Env[name])
		// A value may be a password.
		k.fact("variable " + name + " (value with the hash " + hashed(name + "=" + t.Env[name])[:8] + ")")
	}
	return k
}

// add puts one thing into the key, so that no two lists of texts look the same.
func (k *key) add(what string, texts ...string) {
	k.text.WriteString(what)
	for _, text := range texts {
		k.text.WriteString(" " + strconv.Itoa(len(text)) + ":" + text)
	}
	k.text.WriteByte('\n')
}

// password is what a URL may hold.
var password = regexp.MustCompile(`://[^/@\s]+@`)

func (k *key) fact(text string) {
	k.facts = append(k.facts, monitor.Clean(password.ReplaceAllString(text, "://…@")))
}

func (k *key) sum() string { return hashed(k.text.String())[:32] }

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// settings are what Serena's answers to initialize and tools/list come from.
type settings struct {
	program string // of which size and time count: what starts Serena is written anew with it
	paths   []string
	texts   []files
	listed  []files // of which only the names count
}

// files are those in a directory whose names match a pattern.
type files struct{ dir, pattern string }

// settingsOf says where they are; named are contexts and modes. Sources:
// serena/config/serena_config.py (SerenaPaths) and context_mode.py.
func settingsOf(program, serenaHome, project string, named []string) settings {
	s := settings{
		program: program,
		paths:   []string{filepath.Join(serenaHome, "serena_config.yml")},
		texts:   []files{{serenaHome, "contexts/*.y*ml"}, {serenaHome, "modes/*.y*ml"}, {serenaHome, "prompt_templates/*.y*ml"}},
		listed:  []files{{serenaHome, "memories/global/*"}},
	}
	if project != "" {
		s.texts = append(s.texts, files{project, ".serena/*.y*ml"})
		s.listed = append(s.listed, files{project, ".serena/memories/*"})
	}
	for _, path := range named {
		if filepath.IsAbs(path) {
			s.paths = append(s.paths, path)
		}
	}
	return s
}

func (a *Planner) fingerprint(s settings) string {
	sum, err := project.Look(context.Background(), &a.looks, fmt.Sprint(s), s.program, func(string) string { return s.sum() })
	if err != nil {
		return "unknown " + rand.Text()
	}
	return sum
}

// Bounds of what is read: settings are small, and a project's may be anything.
const (
	mostSettings = 1 << 20 // bytes of a file
	mostFiles    = 500     // of a directory
)

func (s settings) sum() string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %s\n", s.program, stampOf(s.program))
	paths := slices.Clone(s.paths)
	for _, f := range s.texts {
		paths = append(paths, f.find()...)
	}
	for _, path := range paths {
		// Settings are often links to where a person keeps them.
		real, err := filepath.EvalSymlinks(path)
		text := []byte(nil)
		if err == nil {
			text, err = statefile.Read(real, mostSettings)
		}
		fmt.Fprintf(hash, "%q %q %v\n", path, text, err)
	}
	for _, f := range s.listed {
		fmt.Fprintf(hash, "%q %q\n", f.dir, f.find())
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

func (f files) find() (paths []string) {
	names, _ := fs.Glob(os.DirFS(f.dir), f.pattern) // what cannot be read is not there
	for _, name := range names[:min(len(names), mostFiles)] {
		paths = append(paths, filepath.Join(f.dir, name))
	}
	return paths
}
