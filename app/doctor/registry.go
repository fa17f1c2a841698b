package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/registry"
	"lamplighter/monitor/statefile"
)

// registryFacts are what can be told of the registry by reading it.
type registryFacts struct {
	path    string
	err     error // why there are no entries
	entries int
	ended   int // of the entries, those whose process has
	lock    lockFacts
}

func gatherRegistry(ctx context.Context, o Options) registryFacts {
	dir := o.Places.SerenaHome
	if dir == "" {
		return registryFacts{}
	}
	list, err := registry.List(dir)
	f := registryFacts{path: filepath.Join(dir, registry.FileName), err: err, entries: len(list), lock: tryLock(ctx, filepath.Join(dir, registry.LockName), 2*time.Second)}
	for _, e := range list {
		if e.Ended() {
			f.ended++
		}
	}
	return f
}

func judgeRegistry(f registryFacts) []Line {
	var lines []Line
	switch {
	case f.path == "":
		return []Line{{Mark: OK, Text: "there is no home directory, so there is no registry"}}
	case errors.Is(f.err, registry.ErrOff):
		return []Line{{Mark: OK, Text: f.path + " leads to something that is no file: that switches the registry off"}}
	case errors.Is(f.err, registry.ErrBroken):
		lines = append(lines, Line{
			Mark: Broken, Text: fmt.Sprintf("%s cannot be used: %v", f.path, statefile.Cause(f.err)), Means: "Programs that read it fail or see nothing. Lamplighter sets it aside and makes a new one as soon as a server runs.",
			Do: "Move it away, unless you want to mend it.",
		})
	case errors.Is(f.err, fs.ErrNotExist):
		lines = append(lines, Line{Mark: OK, Text: "there is no registry " + f.path + " yet; it is made with the first server"})
	case f.err != nil:
		lines = append(lines, Line{Mark: Broken, Text: fmt.Sprintf("%s cannot be read: %v", f.path, statefile.Cause(f.err)), Means: "Servers are not entered there.", Do: "Check its owner and mode."})
	default:
		lines = append(lines, Line{Mark: OK, Text: fmt.Sprintf("%s can be read: %s", f.path, monitor.Plural(f.entries, "server", "servers"))})
	}
	if f.ended > 0 {
		text := monitor.Plural(f.ended, "server there has", "servers there have") + " ended; lamplighter run takes out what has had no heartbeat for ten minutes"
		lines = append(lines, Line{Mark: OK, Text: text})
	}
	if f.lock.err != nil {
		lines = append(lines, Line{Mark: Broken, Text: fmt.Sprintf("its lock %s cannot be taken: %v", f.lock.path, statefile.Cause(f.lock.err)), Means: "Nothing is entered into the registry.", Do: "Move it away."})
	}
	if f.lock.held {
		lines = append(lines, Line{
			Mark: Broken, Text: fmt.Sprintf("its lock %s is held all the time", f.lock.path), Means: "Nobody can enter a server. It is held for milliseconds only when all is well.",
			Do: "End the program that holds it.",
		})
	}
	return lines
}

// lockFacts are what is known of a lock.
type lockFacts struct {
	path string
	err  error // why it cannot be taken, ever
	held bool  // by another program, for longer than the limit
}

// tryLock takes a lock for a moment, where its file is there. It makes none.
func tryLock(ctx context.Context, path string, limit time.Duration) lockFacts {
	f := lockFacts{path: path}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	lock, err := statefile.Lock(ctx, path, 10*time.Millisecond)
	switch {
	case err == nil:
		_ = lock.Close() // it ends with the descriptor
	case errors.Is(err, context.DeadlineExceeded):
		f.held = true
	case !errors.Is(err, fs.ErrPermission) && !errors.Is(err, context.Canceled):
		f.err = err
	}
	return f
}
