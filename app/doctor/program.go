package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"lamplighter/installer"
	"lamplighter/monitor/process"
)

// programFacts are how this program is installed, and whether it runs.
type programFacts struct {
	version   string
	self      string    // its path, "" when it is not known
	connect   string    // where lamplighter-connect has to be
	connectIs error     // nil: it is there and can be run
	builds    [2]string // the revisions that this program and that one were built from, "" where that is not recorded

	background background
	socket     string
	home       bool // there is a home directory
	installed  installedFacts
	copies     copies
}

func gatherProgram(o Options, w world) programFacts {
	f := programFacts{version: o.Version, self: o.Self, background: w.background, socket: o.Places.ControlSocket, home: o.Home != "", installed: gatherInstalled(w), copies: w.copies}
	if o.Self != "" {
		f.connect = beside(o.Self, "lamplighter-connect")
		if f.connectIs = runnable(f.connect); f.connectIs == nil {
			f.builds = [2]string{ourRevision(), revisionIn(f.connect)}
		}
	}
	return f
}

// ourRevision is the revision of the source that this program was built from.
func ourRevision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// revisionMark stands before the revision in what Go records in a program.
//
// Source: package runtime/debug, BuildInfo.String.
var revisionMark = []byte("build\tvcs.revision=")

// revisionIn is the revision of a small program of ours, read from its file: the
// library that reads it properly knows the formats of all systems, and would make
// this program half a megabyte larger.
func revisionIn(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 16 << 20
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return ""
	}
	_, rest, _ := bytes.Cut(text, revisionMark)
	revision, _, found := bytes.Cut(rest[:min(len(rest), 100)], []byte("\n"))
	if !found {
		return ""
	}
	return string(revision)
}

// beside is the path of another program of ours.
func beside(self, name string) string {
	if path, err := filepath.EvalSymlinks(self); err == nil {
		self = path
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(self), name)
}

func judgeProgram(f programFacts) []Line {
	system := runtime.GOOS + "/" + runtime.GOARCH
	lines := []Line{{Mark: OK, Text: fmt.Sprintf("lamplighter %s (%s) is %s", f.version, system, f.self)}}
	if f.self == "" {
		lines[0] = Line{Mark: Warn, Text: fmt.Sprintf("lamplighter %s (%s); the system does not tell where it lies", f.version, system)}
	}
	lines = append(lines, judgeInstalled(f.installed)...)
	lines = append(lines, judgeCopies(f.copies, f.installed.command)...)
	if f.connect != "" {
		lines = append(lines, judgeConnect(f.connect, f.connectIs, f.builds))
	}
	if !f.home {
		lines = append(lines, Line{
			Mark: Broken, Text: "there is no home directory",
			Means: "There is no place for settings, log and records, so no server can be started.",
			Do:    "Set HOME; or LAMPLIGHTER_STATE_DIR and LAMPLIGHTER_CONTROL_SOCKET to places of your own.",
		})
	}
	lines = append(lines, judgeBackground(f)...)
	return append(lines, judgeWarnings(f.background.health.Warnings)...)
}

func judgeConnect(path string, err error, builds [2]string) Line {
	l := Line{
		Mark: Broken, Means: "It runs above each server that Lamplighter starts; without it none can be started.",
		Do: "Install Lamplighter again: both programs come together and have to lie in one directory.",
	}
	switch {
	case err == nil && builds[0] != builds[1] && builds[0] != "" && builds[1] != "":
		return Line{
			Mark: Warn, Text: "lamplighter-connect beside it is of another build: " + path, Means: "Both are made for each other; what one expects the other may not do.",
			Do: l.Do,
		}
	case err == nil:
		return Line{Mark: OK, Text: "lamplighter-connect lies beside it"}
	case errors.Is(err, fs.ErrNotExist):
		l.Text = "lamplighter-connect is missing: there is no " + path
	default:
		l.Text = fmt.Sprintf("lamplighter-connect cannot be run: %s: %v", path, reason(err))
	}
	return l
}

func judgeBackground(f programFacts) []Line {
	b := f.background
	switch {
	case b.runs() && b.health.Version != f.version:
		return append([]Line{{
			Mark: Warn, Text: fmt.Sprintf("the background process (pid %d) is lamplighter %s, not %s", b.health.PID, b.health.Version, f.version),
			Means: "It goes on as it was when it started.", Do: f.replaceRunning(),
		}}, judgeSilent(b.silent, true, f.socket)...)
	case b.runs():
		l := Line{Mark: OK, Text: fmt.Sprintf("the background process runs (pid %d), the same version", b.health.PID)}
		if strings.HasSuffix(b.exe, " (deleted)") {
			l = Line{
				Mark: Warn, Text: fmt.Sprintf("the background process (pid %d) runs a program that was replaced since", b.health.PID),
				Means: "It goes on as it was when it started.", Do: "Quit it from its menu, then start the new one: " + f.installed.command + " run",
			}
		}
		return append([]Line{l}, judgeSilent(b.silent, true, f.socket)...)
	case len(b.silent) > 0:
		return judgeSilent(b.silent, false, f.socket)
	case b.absent(), f.socket == "":
		return []Line{{
			Mark: Warn, Text: "the background process does not run",
			Means: "There is no icon, no page and no session manager; status, stop and events look for themselves.", Do: "Start it: " + f.installed.command + " run",
		}}
	}
	return []Line{{Mark: Broken, Text: b.err.Error(), Means: "The verbs cannot ask the background process anything."}}
}

// replaceRunning is how to have this version run in place of another one.
func (f programFacts) replaceRunning() string {
	if f.installed.Kind == installer.None || f.installed.Kind == "" {
		return "Quit it from its menu, then start this one: " + f.installed.command + " run"
	}
	return "Have this one run in its place: " + f.installed.command + " install"
}

// judgeSilent is about background processes that do not answer on the control
// socket.
func judgeSilent(list []process.Info, another bool, socket string) []Line {
	var lines []Line
	for _, in := range list {
		l := Line{
			Mark: Broken, Text: fmt.Sprintf("lamplighter runs (pid %d), but does not answer on %s", in.PID, socket),
			Means: "It hangs, or it was started with other settings for the socket.",
			Do:    fmt.Sprintf("Compare LAMPLIGHTER_CONTROL_SOCKET, XDG_RUNTIME_DIR and HOME of both; or end pid %d and start lamplighter again.", in.PID),
		}
		if another {
			l.Mark, l.Text = Warn, fmt.Sprintf("a second lamplighter runs (pid %d), which does not serve %s", in.PID, socket)
			l.Means = "It was started with other places for its files. Both show the same servers."
		}
		lines = append(lines, l)
	}
	return lines
}

// reason is an error without the path that the line names already.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
