package doctor

import (
	"errors"
	"fmt"

	"lamplighter/app/config"
	"lamplighter/monitor"
)

func judgeSerenas(f settingsFacts) []Line {
	if f.serenaPath == "" {
		return nil
	}
	if f.file.Broken != "" {
		l := Line{
			Mark: Broken, Text: fmt.Sprintf("%s is not valid YAML: %s", f.serenaPath, monitor.Clean(f.file.Broken)),
			Means: "Serena does not start with it.", Do: "Correct it; or move it away, and Serena makes a new one.",
		}
		if f.file.Line > 0 {
			l.Text = fmt.Sprintf("%s:%d: this is not valid YAML: %s", f.serenaPath, f.file.Line, monitor.Clean(f.file.Broken))
		}
		return []Line{l}
	}
	if f.file.Err != nil {
		return []Line{{Mark: Broken, Text: fmt.Sprintf("Serena's settings %s cannot be read: %v", f.serenaPath, reason(f.file.Err)), Means: "Serena does not start without them.", Do: "Check their owner and mode."}}
	}
	var lines []Line
	var file *config.FileError
	if errors.As(f.serenas, &file) {
		lines = problems(file, "What is wrong counts as not said. Serena itself is not concerned.", "Correct that line.")
	}
	if !f.file.Exists {
		return append(lines, Line{Mark: OK, Text: "Serena has no settings yet; it makes them at its first start"})
	}
	if len(lines) == 0 {
		lines = append(lines, Line{Mark: OK, Text: "Serena's settings in " + f.serenaPath + " can be read"})
	}
	if f.file.Dashboard != nil && !*f.file.Dashboard {
		lines = append(lines, Line{
			Mark: Warn, Text: "Serena's settings switch its dashboard off (web_dashboard: false)",
			Means: "Lamplighter sees that such servers run, but not their project, their calls or whether they are idle.", Do: "Set web_dashboard: true and web_dashboard_open_on_launch: false.",
		})
		return lines
	}
	if !f.elsewhere && f.file.OpensPage() {
		lines = append(lines, Line{
			Mark: Warn, Text: "every Serena server that an assistant starts opens a page of its own (web_dashboard_open_on_launch)",
			Means: "Those that Lamplighter starts do not.", Do: "Set web_dashboard_open_on_launch: false, or web_dashboard_interface: tray_manager, in " + f.serenaPath + ".",
		})
	}
	return lines
}
