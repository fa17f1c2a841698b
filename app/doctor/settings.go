package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter/app/config"
)

// settingsFacts are what the two settings files say wrongly.
type settingsFacts struct {
	path   string
	exists bool
	wrong  error

	serenaPath string
	serenas    error // with what it says to us
	file       config.SerenaPage
	elsewhere  bool // the lines about clients say whose page opens
}

func gatherSettings(o Options, w world) settingsFacts {
	f := settingsFacts{path: o.Places.Config, wrong: w.wrong, serenas: w.serenas}
	if f.path != "" {
		_, err := os.Stat(f.path)
		f.exists = !errors.Is(err, fs.ErrNotExist)
	}
	f.elsewhere = startsSerena(w.clients.all)
	if f.serenaPath = serenaSettings(o); f.serenaPath != "" {
		f.file = config.ReadSerenaPage(f.serenaPath)
	}
	return f
}

// serenaSettings is the path of Serena's own settings, "" when it is not known.
func serenaSettings(o Options) string {
	if o.Places.SerenaHome == "" {
		return ""
	}
	return filepath.Join(o.Places.SerenaHome, config.SerenaFile)
}

func judgeSettings(f settingsFacts) []Line {
	return append(judgeOurs(f), judgeSerenas(f)...)
}

func judgeOurs(f settingsFacts) []Line {
	var file *config.FileError
	switch {
	case errors.As(f.wrong, &file):
		return problems(file, "The defaults are used at the next start, the last good settings until then.", "Correct that line.")
	case f.wrong != nil:
		return []Line{{Mark: Broken, Text: f.wrong.Error(), Means: "The defaults are used."}}
	case f.path == "":
		return []Line{{Mark: Warn, Text: "the settings have no place; the defaults are used", Do: "Set HOME, or LAMPLIGHTER_CONFIG to a file."}}
	case !f.exists:
		return []Line{{Mark: OK, Text: "there is no settings file " + f.path + ", and none is needed"}}
	}
	return []Line{{Mark: OK, Text: "the settings in " + f.path + " are right"}}
}

// problems makes a line of each problem of a file.
func problems(file *config.FileError, means, do string) []Line {
	var lines []Line
	for _, p := range file.Problems {
		l := Line{Mark: Broken, Means: means, Do: do}
		switch {
		case p.Line > 0:
			l.Text = fmt.Sprintf("%s:%d: %s", file.Path, p.Line, p.Text)
		default:
			l.Text, l.Do = file.Path+": "+p.Text, ""
		}
		lines = append(lines, l)
	}
	return lines
}
