package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"lamplighter/app/config"
	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
)

// serenaFile is what Serena's own settings say about what matters to us. A nil
// field is not said.
type serenaFile struct {
	exists bool
	err    error // it cannot be read
	broken string
	line   int // of what is broken, 0 when it is not known

	dashboard *bool
	opens     *bool
	face      string // web_dashboard_interface
}

// What is read of Serena's file: far more than it ever has. The YAML parser's
// time grows with the square of a line's length and of the nesting.
const (
	mostSerena     = 256 << 10 // bytes
	mostSerenaLine = 8 << 10   // bytes
	mostBrackets   = 1000
)

func readSerenaFile(path string) serenaFile {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return serenaFile{}
	case err == nil && !info.Mode().IsRegular(): // to open a pipe could wait for ever
		err = errors.New("it is not a file")
	}
	if err != nil {
		return serenaFile{exists: true, err: err}
	}
	file, err := plainfile.OpenShared(path)
	if err != nil {
		return serenaFile{exists: true, err: err}
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostSerena+1))
	if err != nil {
		return serenaFile{exists: true, err: err}
	}
	return parseSerenaFile(text)
}

// parseSerenaFile reads the text of Serena's settings. A text that is too much
// for our parser is taken to be right.
func parseSerenaFile(text []byte) (f serenaFile) {
	f.exists = true
	if len(text) > mostSerena || bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > mostBrackets {
		return f
	}
	for line := range bytes.Lines(text) {
		if len(line) > mostSerenaLine {
			return f
		}
	}
	// The parser is foreign code over foreign bytes.
	defer func() {
		if recover() != nil {
			f = serenaFile{exists: true}
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
		f.broken = strings.SplitN(err.Error(), "\n", 2)[0]
		var located yaml.Error
		if errors.As(err, &located) {
			f.broken = located.GetMessage()
			if t := located.GetToken(); t != nil && t.Position != nil {
				f.line = t.Position.Line
			}
		}
		return f
	}
	f.dashboard, f.opens = said.Dashboard, said.Opens
	if said.Interface != nil {
		f.face = *said.Interface
	}
	return f
}

func judgeSerenas(f settingsFacts) []Line {
	if f.serenaPath == "" {
		return nil
	}
	if f.file.broken != "" {
		l := Line{
			Mark: Broken, Text: fmt.Sprintf("%s is not valid YAML: %s", f.serenaPath, monitor.Clean(f.file.broken)),
			Means: "Serena does not start with it.", Do: "Correct it; or move it away, and Serena makes a new one.",
		}
		if f.file.line > 0 {
			l.Text = fmt.Sprintf("%s:%d: this is not valid YAML: %s", f.serenaPath, f.file.line, monitor.Clean(f.file.broken))
		}
		return []Line{l}
	}
	if f.file.err != nil {
		return []Line{{Mark: Broken, Text: fmt.Sprintf("Serena's settings %s cannot be read: %v", f.serenaPath, reason(f.file.err)), Means: "Serena does not start without them.", Do: "Check their owner and mode."}}
	}
	var lines []Line
	var file *config.FileError
	if errors.As(f.serenas, &file) {
		lines = problems(file, "What is wrong counts as not said. Serena itself is not concerned.", "Correct that line.")
	}
	if !f.file.exists {
		return append(lines, Line{Mark: OK, Text: "Serena has no settings yet; it makes them at its first start"})
	}
	if len(lines) == 0 {
		lines = append(lines, Line{Mark: OK, Text: "Serena's settings in " + f.serenaPath + " can be read"})
	}
	if f.file.dashboard != nil && !*f.file.dashboard {
		lines = append(lines, Line{
			Mark: Warn, Text: "Serena's settings switch its dashboard off (web_dashboard: false)",
			Means: "Lamplighter sees that such servers run, but not their project, their calls or whether they are idle.", Do: "Set web_dashboard: true and web_dashboard_open_on_launch: false.",
		})
		return lines
	}
	if !f.elsewhere && (f.file.opens == nil || *f.file.opens) && f.file.face != "tray_manager" {
		lines = append(lines, Line{
			Mark: Warn, Text: "every Serena server that an assistant starts opens a page of its own (web_dashboard_open_on_launch)",
			Means: "Those that Lamplighter starts do not.", Do: "Set web_dashboard_open_on_launch: false, or web_dashboard_interface: tray_manager, in " + f.serenaPath + ".",
		})
	}
	return lines
}
