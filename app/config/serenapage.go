package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"lamplighter/monitor/statefile"
)

// maxSerenaBrackets bounds the nesting in Serena's file: the YAML parser's time
// grows with its square.
const maxSerenaBrackets = 1000

// SerenaPage is what Serena's own settings say about Serena's own page. A nil
// field is not said, or not in a way that Serena understands.
type SerenaPage struct {
	Exists bool   // the file is there
	Err    error  // it cannot be read
	Broken string // why it is not YAML; foreign text
	Line   int    // of what is broken, from 1; 0 when it is not known

	Dashboard *bool  // web_dashboard
	Opens     *bool  // web_dashboard_open_on_launch
	Interface string // web_dashboard_interface; foreign text
}

// OpensPage reports whether a Serena that is told nothing else opens its page. One
// whose settings cannot be read is taken to do what it does without any.
// Source: SerenaConfig of serena/config/serena_config.py and DashboardManager of
// serena/agent.py, 1.5.3 to 2.1.0.
func (p SerenaPage) OpensPage() bool {
	isFalse := func(b *bool) bool { return b != nil && !*b }
	return !isFalse(p.Dashboard) && !isFalse(p.Opens) && p.Interface != "tray_manager"
}

// ReadSerenaPage reads Serena's settings file at path. A file that is not there
// says nothing.
func ReadSerenaPage(path string) SerenaPage {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return SerenaPage{}
	case err == nil && !info.Mode().IsRegular(): // to open a pipe could wait for ever
		err = errors.New("it is not a file")
	}
	if err != nil {
		return SerenaPage{Exists: true, Err: err}
	}
	file, err := statefile.OpenShared(path)
	if err != nil {
		return SerenaPage{Exists: true, Err: err}
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSerenaSize+1))
	if err != nil {
		return SerenaPage{Exists: true, Err: err}
	}
	return parseSerenaPage(text)
}

// parseSerenaPage reads the text of Serena's settings. A text that is too much
// for our parser is taken to be right.
func parseSerenaPage(text []byte) (p SerenaPage) {
	p.Exists = true
	if len(text) > maxSerenaSize || bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxSerenaBrackets {
		return p
	}
	for line := range bytes.Lines(text) {
		if len(line) > maxSerenaLine {
			return p
		}
	}
	// The parser is foreign code over foreign bytes.
	defer func() {
		if recover() != nil {
			p = SerenaPage{Exists: true}
		}
	}()
	var said struct {
		Dashboard *bool   `yaml:"web_dashboard"`
		Opens     *bool   `yaml:"web_dashboard_open_on_launch"`
		Interface *string `yaml:"web_dashboard_interface"`
	}
	err := yaml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &said)
	// Serena says by itself what it does not like about a value.
	var value *yaml.TypeError
	if err != nil && !errors.As(err, &value) {
		p.Broken = strings.SplitN(err.Error(), "\n", 2)[0]
		var located yaml.Error
		if errors.As(err, &located) {
			p.Broken = located.GetMessage()
			if t := located.GetToken(); t != nil && t.Position != nil {
				p.Line = t.Position.Line
			}
		}
		return p
	}
	p.Dashboard, p.Opens = said.Dashboard, said.Opens
	if said.Interface != nil {
		p.Interface = *said.Interface
	}
	return p
}
