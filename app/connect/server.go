package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// serverFile is where the launcher says in DIR which process is the server, once
// it knows: PID-START, as in monitor.Identity.
const serverFile = "server"

// serverIn reads it when it is asked for the first time, which is when the tree
// is ended. The process is the zero proc when nobody has said so.
func serverIn(dir string) func() proc {
	return sync.OnceValue(func() proc {
		text, _ := os.ReadFile(filepath.Join(dir, serverFile))
		return parseServer(string(text))
	})
}

func parseServer(text string) proc {
	pid, start, ok := strings.Cut(strings.TrimSpace(text), "-")
	n, err := strconv.Atoi(pid)
	ticks, errStart := strconv.ParseUint(start, 10, 64)
	if !ok || err != nil || errStart != nil || n <= 0 {
		return proc{}
	}
	return proc{n, ticks}
}
