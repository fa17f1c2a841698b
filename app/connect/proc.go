package main

// proc is a process. A pid alone is none: it is used again.
type proc struct {
	pid   int
	start uint64 // as in monitor.Identity
}
