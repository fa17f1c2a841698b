package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// fileFacts are the places of our files and what the system says about them.
type fileFacts struct {
	socket    string
	pipe      bool // it is the name of a pipe, which has no directory and no mode
	reach     error
	runs      bool
	socketIs  entry
	socketDir entry

	state    string
	stateIs  entry
	nearest  string // the state directory, or the directory that exists above it
	writable error  // whether files can be made in nearest
	free     space

	alive      lockFacts // the lock for servers
	background background
}

// entry is what lies at a path.
type entry struct {
	err    error
	mode   fs.FileMode
	owner  int // user id, -1 where there are none
	us     int
	exists bool
}

// space is what a disk has left.
type space struct {
	err     error
	bytes   uint64 // for us
	noFiles bool   // no file can be made any more, whatever room there is
}

func gatherFiles(ctx context.Context, o Options, w world) fileFacts {
	f := fileFacts{socket: o.Places.ControlSocket, pipe: isPipe(o.Places.ControlSocket), reach: w.background.err, runs: w.background.runs(), state: o.Places.StateDir, background: w.background}
	if f.socket != "" && !f.pipe {
		f.socketIs, f.socketDir = entryAt(f.socket), entryAt(filepath.Dir(f.socket))
	}
	if f.state != "" {
		f.stateIs = entryAt(f.state)
		f.nearest = nearest(f.state)
		f.writable = writable(f.nearest)
		f.free = freeSpace(f.nearest)
		f.alive = gatherAlive(ctx, f.state)
	}
	return f
}

func entryAt(path string) entry {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = os.Stat(path)
	}
	if err != nil {
		return entry{err: err, owner: -1, us: os.Getuid()}
	}
	return entry{mode: info.Mode(), owner: statefile.Owner(info), us: os.Getuid(), exists: true}
}

// nearest is a directory, or the one that exists above it.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

func judgeFiles(f fileFacts) []Line {
	return slices.Concat(judgeSocket(f), judgeState(f), judgeAlive(f.alive, f.background))
}

const ownPlace = "Set LAMPLIGHTER_CONTROL_SOCKET to a place in a directory of your own."

func judgeSocket(f fileFacts) []Line {
	what := "the control socket"
	if f.pipe {
		what = "the control pipe"
	}
	name := what + " " + f.socket
	switch {
	case f.socket == "":
		return []Line{{Mark: Broken, Text: what + " has no place", Means: "The verbs cannot reach the background process.", Do: "Set HOME, or LAMPLIGHTER_CONTROL_SOCKET to an absolute path."}}
	case errors.Is(f.reach, api.ErrPathTooLong), errors.Is(f.reach, api.ErrNotAbsolute):
		return []Line{{Mark: Broken, Text: f.reach.Error(), Means: "The background process cannot serve it either.", Do: "Set LAMPLIGHTER_CONTROL_SOCKET to a short absolute path."}}
	}
	var lines []Line
	if f.socketDir.exists {
		lines = judgeSocketDir(f)
	}
	switch d := f.socketIs; {
	case f.runs && f.pipe:
		lines = append(lines, Line{Mark: OK, Text: name + " answers, and is yours alone"})
	case f.runs && d.exists && d.mode.Perm()&0o077 != 0:
		lines = append(lines, Line{
			Mark: Warn, Text: fmt.Sprintf("%s has mode %04o, not 0600", name, d.mode.Perm()), Means: "Others may connect to it; they are turned away.",
			Do: "chmod 600 " + monitor.Quoted([]string{f.socket}),
		})
	case f.runs:
		lines = append(lines, Line{Mark: OK, Text: name + " answers, and is yours alone"})
	case f.pipe, !d.exists && errors.Is(d.err, fs.ErrNotExist):
		lines = append(lines, Line{Mark: OK, Text: name + " is not there, as nobody serves it"})
	case !d.exists:
		lines = append(lines, Line{Mark: Broken, Text: fmt.Sprintf("%s cannot be looked at: %v", name, reason(d.err)), Means: "The verbs cannot reach the background process.", Do: ownPlace})
	case d.mode.Type() != fs.ModeSocket:
		lines = append(lines, Line{Mark: Broken, Text: name + " is not a socket: something else lies there", Means: "The background process cannot serve it.", Do: "Move it away, or set LAMPLIGHTER_CONTROL_SOCKET to another path."})
	case d.owner >= 0 && d.owner != d.us:
		lines = append(lines, Line{Mark: Broken, Text: fmt.Sprintf("%s belongs to user id %d", name, d.owner), Means: "It is not used: another user serves it.", Do: ownPlace})
	case errors.Is(f.reach, fs.ErrNotExist) || isRefused(f.reach):
		lines = append(lines, Line{Mark: OK, Text: name + " was left behind; the next start replaces it"})
	}
	return lines
}

// judgeSocketDir is about the directory of the control socket, where others
// could put one of their own.
func judgeSocketDir(f fileFacts) []Line {
	dir, d := filepath.Dir(f.socket), f.socketDir
	sticky := d.mode&fs.ModeSticky != 0
	switch {
	case !d.mode.IsDir():
		return []Line{{Mark: Broken, Text: dir + " is not a directory", Means: "The control socket has no place.", Do: "Move it away, or set LAMPLIGHTER_CONTROL_SOCKET to another path."}}
	case d.owner >= 0 && d.owner != d.us && (d.owner != 0 || !sticky):
		return []Line{{Mark: Broken, Text: fmt.Sprintf("the directory of the control socket, %s, belongs to user id %d", dir, d.owner), Means: "The background process does not serve a socket there.", Do: ownPlace}}
	case d.owner >= 0 && d.mode.Perm()&0o022 != 0 && !sticky:
		return []Line{{
			Mark: Broken, Text: fmt.Sprintf("others may write to the directory of the control socket, %s (mode %04o)", dir, d.mode.Perm()),
			Means: "Somebody else could put a socket of his own there.", Do: "chmod go-w " + monitor.Quoted([]string{dir}),
		}}
	}
	return nil
}

// The least room that is enough, in bytes: for log and records, which are small,
// and for a server, whose language servers write more.
const (
	tightSpace = 200 << 20
	noSpace    = 4 << 20
)

func judgeState(f fileFacts) []Line {
	const means = "There is no log, no record of what happens, and no server can be started."
	const elsewhere = "or set LAMPLIGHTER_STATE_DIR to another directory."
	if f.state == "" {
		return []Line{{Mark: Broken, Text: "the state directory has no place", Means: means, Do: "Set HOME, " + elsewhere}}
	}
	name := "the state directory " + f.state
	d := f.stateIs
	switch {
	case f.writable != nil && !errors.Is(f.writable, errors.ErrUnsupported) && f.nearest != f.state:
		return []Line{{Mark: Broken, Text: fmt.Sprintf("%s cannot be made: %s: %v", name, f.nearest, reason(f.writable)), Means: means, Do: "Make it writable for you, " + elsewhere}}
	case !d.exists && !errors.Is(d.err, fs.ErrNotExist):
		return []Line{{Mark: Broken, Text: fmt.Sprintf("%s cannot be looked at: %v", name, reason(d.err)), Means: means, Do: "Make it yours, " + elsewhere}}
	case d.exists && !d.mode.IsDir():
		return []Line{{Mark: Broken, Text: name + " is not a directory", Means: means, Do: "Move it away, " + elsewhere}}
	case d.exists && d.owner >= 0 && d.owner != d.us:
		return []Line{{Mark: Broken, Text: fmt.Sprintf("%s belongs to user id %d", name, d.owner), Means: means, Do: "Make it yours, " + elsewhere}}
	case f.writable != nil && !errors.Is(f.writable, errors.ErrUnsupported):
		return []Line{{Mark: Broken, Text: fmt.Sprintf("nothing can be written to %s: %v", name, reason(f.writable)), Means: means, Do: "Make it writable for you, " + elsewhere}}
	}
	lines := []Line{{Mark: OK, Text: name + " is yours and can be written to"}}
	switch {
	case !d.exists:
		lines[0].Text = name + " is not there yet; it can be made"
	case d.owner >= 0 && d.mode.Perm()&0o022 != 0 && filepath.Base(f.state) != "lamplighter":
		lines[0] = Line{
			Mark: Broken, Text: fmt.Sprintf("others may write to %s (mode %04o)", name, d.mode.Perm()), Means: "It is not used: " + means,
			Do: "chmod go-w " + monitor.Quoted([]string{f.state}),
		}
	case d.owner >= 0 && d.mode.Perm()&0o077 != 0:
		lines[0] = Line{
			Mark: Warn, Text: fmt.Sprintf("%s has mode %04o, not 0700", name, d.mode.Perm()), Means: "Others may look into it. The next start of lamplighter sets it right where the directory bears its name.",
			Do: "chmod 700 " + monitor.Quoted([]string{f.state}),
		}
	}
	return append(lines, judgeSpace(f.free, f.nearest)...)
}

func judgeSpace(s space, dir string) []Line {
	free := monitor.Memory(s.bytes)
	do := "Make room on the disk of " + dir + "."
	switch {
	case errors.Is(s.err, errors.ErrUnsupported):
		return nil
	case s.err != nil:
		return []Line{{Mark: Warn, Text: fmt.Sprintf("how much room the disk has is not known: %v", s.err)}}
	case s.noFiles:
		return []Line{{Mark: Broken, Text: "the disk takes no more files: it has no inodes left", Means: "No server can be started.", Do: do}}
	case s.bytes < noSpace:
		return []Line{{Mark: Broken, Text: "the disk is full: " + free + " are free", Means: "No server can be started: its record finds no room.", Do: do}}
	case s.bytes < tightSpace:
		return []Line{{Mark: Warn, Text: "the disk is nearly full: " + free + " are free", Means: "Language servers may fail for want of room.", Do: do}}
	}
	return []Line{{Mark: OK, Text: "the disk has " + free + " free"}}
}
