package share

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lamplighter/monitor"
)

// key collects what servers are shared by.
type key struct {
	text  strings.Builder
	facts []string
}

// keyOf makes the key of a plan whose Spec is complete but for the key; identity
// is that of its program.
func keyOf(plan *Plan, identity string, from origin) *key {
	k := &key{}
	t := &plan.Spec.Template
	k.add("format", "1")
	k.add("project", plan.Spec.Project)
	if plan.Spec.Project == "" {
		k.fact("no project")
	} else {
		k.fact("project " + plan.Spec.Project)
	}
	k.add("program", append([]string{identity}, t.Command[1:]...)...)
	k.add("version", plan.Version)
	k.fact("Serena " + plan.Version + ", started with " + monitor.Quoted(append([]string{identity}, t.Command[1:]...)))
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
		k.text.WriteByte(' ')
		k.text.WriteString(strconv.Itoa(len(text)))
		k.text.WriteByte(':')
		k.text.WriteString(text)
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
