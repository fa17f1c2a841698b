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
	// AloneSince is since when nobody was proven to hold the other ends of that pipe,
	// SuspectedSince since when it seemed so.
	AloneSince     time.Time `json:",omitzero"`
	SuspectedSince time.Time `json:",omitzero"`
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

// ProofOf is what is to be remembered of an instance over a restart of ours: who started
// it, by what entry, and its ends of the conversation. Since when it is alone or idle is
// not: an instant from a file would let a step of the clock shorten a grace period. False
// means nothing.
func ProofOf(in *Instance) (Proof, bool) {
	if in.Managed || !in.Recognised || in.State == StateParked || in.Client == nil {
		return Proof{}, false
	}
	p := Proof{Client: in.Client, Entry: in.Entry}
	if in.Evidence.Pipe != (Pipe{}) {
		p.Pipe = &in.Evidence.Pipe
	}
	return p, true
}

// Pipe is what a server reads from its client, and what it writes to it: the same
// where one socket serves both ways. It holds for one boot.
type Pipe struct {
	In, Out PipeEnd
}

// PipeEnd is one end that a server holds.
type PipeEnd struct {
	Inode uint64
	// Peer is the inode of the socket at the other end; zero for a pipe.
	Peer uint64
}
