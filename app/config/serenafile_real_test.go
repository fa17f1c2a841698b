//go:build real

package config

import (
	"os"
	"path/filepath"
	"testing"

	"lamplighter/monitor/serena/serenatest"
)

// What Serena itself ships is read without a complaint, and what a user adds to
// it counts.
func TestSerenasOwnFile(t *testing.T) {
	pattern := filepath.Join(serenatest.Tools(t), "venv*", "lib", "python3*", "site-packages", "serena", "resources", "serena_config.template.yml")
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < 3 {
		t.Fatalf("want the files of three versions at %s, got %q (%v): run ./build.sh test, which installs them", pattern, files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		if l, problems := parseSerena(text, Layer{}); l != (Layer{}) || len(problems) > 0 {
			t.Errorf("%s: %+v, %v", file, l, problems)
		}
		l, problems := parseSerena(append(text, "\nweb_dashboard_global_port: 4000\n"...), Layer{})
		if len(problems) > 0 || Layers(l).Port != 4000 {
			t.Errorf("%s: %+v, %v", file, Layers(l), problems)
		}
	}
}
