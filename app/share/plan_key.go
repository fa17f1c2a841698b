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
	k.add("", "format", "1")
	project := "no project"
	if plan.Spec.Project != "" {
		project = "project " + plan.Spec.Project
	}
	k.add(project, "project", plan.Spec.Project)
	program := append([]string{identityOf(t.Command[0])}, t.Command[1:]...)
	k.add("Serena "+plan.Version+", started with "+monitor.Quoted(program), "program", program...)
	k.add("", "version", plan.Version)
	context := "context " + plan.Context
	if len(t.Arguments) > 0 {
		context += ", arguments " + monitor.Quoted(t.Arguments)
	}
	k.add(context, "arguments", t.Arguments...)
	k.add("", "directory", t.Directory)
	k.add("home "+from.home, "home", from.home)
	k.add("SERENA_HOME "+from.serenaHome, "SERENA_HOME", from.serenaHome)
	for _, tool := range from.tools {
		found := ""
		if tool.path != "" {
			found = "PATH finds " + tool.name + " at " + tool.path
		}
		k.add(found, "tool", tool.name, tool.path)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		if !slices.Contains(inOtherWords, name) {
			// A value may be a password.
			k.add("variable "+name+" (value with the hash "+hashed(name + "=" + t.Env[name])[:8]+")", "variable", name, t.Env[name])
		}
	}
	return k
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

func (k *key) sum() string { return hashed(k.text.String())[:32] }

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// settings are the files of a directory, by a pattern, that Serena's answers to
// initialize and tools/list come from.
type settings struct {
	dir, pattern string
	names        bool // only those count
}

// settingsOf says where they are; named are contexts and modes. Sources:
// serena/config/serena_config.py (SerenaPaths) and context_mode.py.
func settingsOf(serenaHome, project string, named []string) []settings {
	list := []settings{{serenaHome, "memories/global/*", true}}
	for _, pattern := range []string{"serena_config.yml", "contexts/*.y*ml", "modes/*.y*ml", "prompt_templates/*.y*ml"} {
		list = append(list, settings{serenaHome, pattern, false})
	}
	if project != "" {
		list = append(list, settings{project, ".serena/memories/*", true}, settings{project, ".serena/*.y*ml", false})
	}
	for _, path := range named {
		if filepath.IsAbs(path) {
			list = append(list, settings{filepath.Dir(path), literally.Replace(filepath.Base(path)), false})
		}
	}
	return list
}

// literally makes a pattern of a name.
var literally = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// fingerprint tells apart the settings and the program as they are now. Of the program
// size and time count: what starts Serena is written anew with it.
func (a *Planner) fingerprint(program string, list []settings) string {
	sum, err := project.Look(context.Background(), &a.looks, fmt.Sprint(list), program, func(string) string { return sumOf(program, list) })
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

func sumOf(program string, list []settings) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %s\n", program, stampOf(program))
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
