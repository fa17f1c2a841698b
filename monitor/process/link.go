package process

import "errors"

// ErrUnheld says that a process no longer holds its own end of a link, so that
// nothing can be learnt about the other end.
var ErrUnheld = errors.New("the process does not hold its end of the link any more")

// LinkKind is what joins the two ends of a link, which is the conversation of a server
// with its client over standard input and output: monitor.Pipe.
type LinkKind string

// The two kinds of link. Clients in Python, Go and Rust make pipes, those in
// node make pairs of unix sockets.
const (
	Pipe       LinkKind = "pipe"
	SocketPair LinkKind = "socket pair" // of unix stream sockets, without a name
)

// Descriptor is standard input, whatever it is, or a pipe without a name, or one
// of a pair of unix sockets that a process has open. It is plain data.
type Descriptor struct {
	FD     int
	Kind   LinkKind `json:",omitzero"` // "" for what is neither, which only descriptor 0 may be
	Inode  uint64   `json:",omitzero"`
	Peer   uint64   `json:",omitzero"` // of the socket at the other end; 0 for a pipe, or when it has been closed
	Reads  bool     `json:",omitzero"`
	Writes bool     `json:",omitzero"`
	// Deserted says that nobody holds the other end any more.
	Deserted bool `json:",omitzero"`
	// File is what a descriptor of neither kind is: "null" for the null device,
	// else a name that is equal for the same file.
	File string `json:",omitzero"`
}
