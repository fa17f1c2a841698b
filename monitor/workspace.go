package monitor

import "time"

// Workspace is a directory that a job has for itself, as views show it:
// app/workspace. Its texts have been through Clean. It holds nothing that moves by
// itself, so that two that are equal look the same.
type Workspace struct {
	ID        string // UUID
	Job       string
	Project   string
	SizeBytes int64     // when it was last measured, -1: nobody did
	CreatedAt time.Time // UTC
	EndsAt    time.Time // UTC, when it is taken away, zero: never or not known
	Ends      string    // what happens then, in words
	Problem   string    // what stands against it, in words
}
