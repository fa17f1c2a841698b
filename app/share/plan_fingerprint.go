package share

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lamplighter/app/project"
	"lamplighter/monitor/statefile"
)

// settings are what Serena's answers to initialize and tools/list come from.
type settings struct {
	program string // of which size and time count: what starts Serena is written anew with it
	files   []string
	texts   []string // directories of whose files the contents count
	listed  []string // directories of whose files the names count
}

// settingsOf says where they are; named are contexts and modes. Sources:
// serena/config/serena_config.py (SerenaPaths) and context_mode.py.
func settingsOf(program, serenaHome, project string, named []string) settings {
	s := settings{
		program: program,
		files:   []string{filepath.Join(serenaHome, "serena_config.yml")},
		listed:  []string{filepath.Join(serenaHome, "memories", "global")},
	}
	if project != "" {
		s.texts = append(s.texts, filepath.Join(project, ".serena"))
		s.listed = append(s.listed, filepath.Join(project, ".serena", "memories"))
	}
	for _, name := range []string{"contexts", "modes", "prompt_templates"} {
		s.texts = append(s.texts, filepath.Join(serenaHome, name))
	}
	for _, path := range named {
		if filepath.IsAbs(path) {
			s.files = append(s.files, path)
		}
	}
	return s
}

func (a *Planner) fingerprint(s settings) string {
	ctx, cancel := context.WithTimeout(context.Background(), a.o.Limits.Look)
	defer cancel()
	sum, err := project.Look(ctx, &a.looks, fmt.Sprint(s), s.program, func(string) string { return s.sum() })
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
	file := func(path string) {
		fmt.Fprintf(hash, "%q ", path)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real // settings are often links to where a person keeps them
		}
		f, err := statefile.Open(path, os.O_RDONLY, 0)
		if err != nil {
			fmt.Fprintln(hash, "is not there")
			return
		}
		defer f.Close()
		n, err := io.Copy(hash, io.LimitReader(f, mostSettings))
		fmt.Fprintln(hash, "\n", n, err != nil)
	}
	for _, path := range s.files {
		file(path)
	}
	for _, dir := range s.texts {
		for _, name := range names(dir) {
			if ending := filepath.Ext(name); ending == ".yml" || ending == ".yaml" {
				file(filepath.Join(dir, name))
			}
		}
	}
	for _, dir := range s.listed {
		fmt.Fprintf(hash, "%q %q\n", dir, names(dir))
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

func names(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []string
	for _, entry := range entries[:min(len(entries), mostFiles)] {
		list = append(list, entry.Name())
	}
	return list
}
