package main

import "os"

// drainMode is the argument of a keeper's successor, see leaveDrain.
const drainMode = "drain"

// drain reads to the end, for nobody.
func drain(from *os.File) {
	var chunk [4 << 10]byte
	for {
		if _, err := from.Read(chunk[:]); err != nil {
			return
		}
	}
}
