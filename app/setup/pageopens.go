package setup

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"lamplighter/app/config"
	"lamplighter/monitor/plainfile"
)

// What is read of Serena's settings: far more than they ever have. The time that
// the YAML parser needs grows with the square of a line's length and of the
// nesting.
const (
	mostSerena     = 256 << 10 // bytes
	mostSerenaLine = 8 << 10   // bytes
	mostBrackets   = 1000
)

// serenaOpensPage tells whether a Serena that is told nothing else opens its own
// page: what its settings say, which are below SERENA_HOME or the home.
func serenaOpensPage(home string, getenv func(string) string) bool {
	dir := config.Find("", getenv, config.Base{Home: home}).SerenaHome
	if dir == "" {
		return true
	}
	path := filepath.Join(dir, config.SerenaFile)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // to open a pipe could wait for ever
		return true
	}
	file, err := plainfile.OpenShared(path)
	if err != nil {
		return true
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostSerena+1))
	return err != nil || pageOpens(text)
}

// pageOpens reads Serena's settings. Whatever cannot be read is as Serena has it
// without settings: its page opens. Source: SerenaConfig of
// serena/config/serena_config.py, 1.5.3 to 2.1.0.
func pageOpens(text []byte) (opens bool) {
	if len(text) > mostSerena || bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > mostBrackets {
		return true
	}
	for line := range bytes.Lines(text) {
		if len(line) > mostSerenaLine {
			return true
		}
	}
	// The parser is foreign code over foreign bytes.
	defer func() {
		if recover() != nil {
			opens = true
		}
	}()
	var said struct {
		Dashboard *bool   `yaml:"web_dashboard"`
		Opens     *bool   `yaml:"web_dashboard_open_on_launch"`
		Interface *string `yaml:"web_dashboard_interface"`
	}
	// A value of another kind leaves the others as they are said.
	_ = yaml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &said)
	isFalse := func(b *bool) bool { return b != nil && !*b }
	tray := said.Interface != nil && strings.TrimSpace(*said.Interface) == "tray_manager"
	return !isFalse(said.Dashboard) && !isFalse(said.Opens) && !tray
}
