package share

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

// relevant are the variables that can change what a server does. On Windows, where case
// means nothing, their names are in capitals.
func relevant(goos string, env []string) map[string]string {
	found := map[string]string{}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if goos == "windows" {
			name = strings.ToUpper(name)
		}
		if ok && wire.Relevant(name) {
			found[name] = value
		}
	}
	return found
}

// inOtherWords are the variables that the key does not hold as they are: where
// programs are found counts, and which home.
var inOtherWords = []string{"PATH", "HOME", "USERPROFILE", "SERENA_HOME"}

// key is what a server is shared by, and the facts that it is made of.
func (w *wish) key() (sum string, facts []string) {
	program := append([]string{plainDir(w.program[0])}, w.program[1:]...)
	facts = append([]string{
		"project " + cmp.Or(w.root, "none"), "Serena " + w.version + ", started with " + fmt.Sprintf("%q", program), "arguments " + fmt.Sprintf("%q", w.words()), "home " + w.home, "SERENA_HOME " + w.serenaHome,
	}, w.tools...)
	values := slices.Clone(facts)
	for _, name := range slices.Sorted(maps.Keys(w.env)) {
		if !slices.Contains(inOtherWords, name) {
			values = append(values, name+"="+w.env[name])
			facts = append(facts, "variable "+name+" (value with the hash "+hashed(name + "=" + w.env[name])[:8]+")") // it may be a password
		}
	}
	for i, fact := range facts {
		facts[i] = monitor.Clean(password.ReplaceAllString(fact, "://…@"))
	}
	return hashed(fmt.Sprintf("%q", values))[:32], facts // quoted, so that no two lists of texts look the same
}

// password is what a URL may hold.
var password = regexp.MustCompile(`://[^/@\s]+@`)

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sum is of what Serena's answers to initialize and tools/list come from. Of the program
// size and time count: what starts Serena is written anew with it. Of memories only the
// names do. Sources: serena/config/serena_config.py (SerenaPaths) and context_mode.py.
func (w *wish) sum(program string) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %q\n", program, files(w.serenaHome, "memories/global/*"), files(w.root, ".serena/memories/*"))
	if info, err := os.Stat(program); err == nil {
		fmt.Fprintln(hash, info.Size(), info.ModTime().UnixNano())
	}
	settings := files(w.serenaHome, "serena_config.yml", "contexts/*.y*ml", "modes/*.y*ml", "prompt_templates/*.y*ml")
	for _, path := range slices.Concat(settings, files(w.root, ".serena/*.y*ml"), w.modes, []string{w.context}) {
		if filepath.IsAbs(path) { // else it is the name of a context or a mode
			text, err := readSettings(path)
			fmt.Fprintf(hash, "%q %q %v\n", path, text, err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// mostFiles bounds how many files of a pattern count.
const mostFiles = 500

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
