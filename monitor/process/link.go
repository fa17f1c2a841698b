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
