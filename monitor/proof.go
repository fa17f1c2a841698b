package monitor

import "time"

// Proof is what was known of an instance before, as its watch is to go on from it.
// A zero field means not known. Nothing of it counts for longer than until the
// instance is looked at: what is seen then has to bear it out. Its times may be from a
// file, without a monotonic reading, so that a step of the clock counts.
type Proof struct {
	// Client is who started it, and Pipe are its ends of the conversation with that
	// one, recorded while both lived.
	Client *Client `json:",omitzero"`
	Pipe   *Pipe   `json:",omitzero"`
	// Entry is where the client was told to start it; with Proves it is all that tells
	// that the process is a server.
	Entry *Entry `json:",omitzero"`
	// AloneSince is since when nobody held the other ends of that pipe, or without one
	// seemed to hold those of any.
	AloneSince time.Time `json:",omitzero"`
	// IdleSince is as Evidence has it, when LastTask was the last that the server had
	// done and Calls how many it had had. Until CutOffUntil a call that was cut off
	// counts as running.
	IdleSince   time.Time `json:",omitzero"`
	LastTask    string    `json:",omitzero"`
	Calls       *int64    `json:",omitzero"`
	CutOffUntil time.Time `json:",omitzero"`
	// RedSince is as Evidence has it, FailingSince is when its dashboard began to fail.
	RedSince     time.Time `json:",omitzero"`
	FailingSince time.Time `json:",omitzero"`
}

// Pipe is what a server reads from its client, and what it writes to it: the same
// where one socket serves both ways. Descriptor numbers are no part of it, because a
// server may move its ends (Serena 2 does): it is known by inodes, and holds for one
// boot.
type Pipe struct {
	In, Out PipeEnd
}

// PipeEnd is one end that a server holds.
type PipeEnd struct {
	Inode uint64 // of the pipe, which both sides share, or of the server's socket
	Peer  uint64 // of the socket at the other end; zero for a pipe
}
