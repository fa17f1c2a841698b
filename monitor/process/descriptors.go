package process

// Descriptor is standard input, whatever it is, or a pipe without a name, or one
// of a pair of unix sockets that a process has open. It is plain data.
type Descriptor struct {
	FD     int
	Kind   LinkKind // 0 for what is neither, which only descriptor 0 may be
	Inode  uint64
	Peer   uint64 // of the socket at the other end; 0 for a pipe, or when it has been closed
	Reads  bool
	Writes bool
	// Deserted says that nobody holds the other end any more.
	Deserted bool
	// File is what a descriptor of neither kind is: "null" for the null device,
	// else a name that is equal for the same file.
	File string
}
