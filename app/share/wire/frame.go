// Package wire is what goes over share.sock, between lamplighter-connect and the
// background process: frames, the hello, and the little of JSON-RPC that both
// ends have to know.
//
// It is in both programs, and lamplighter-connect has to be tiny, so that it
// imports nothing but bytes, encoding/binary, errors, slices, strconv and strings.
//
// # The conversation
//
// The shim connects and sends one Hello. The background process answers with
// Heard at once, and then with Welcome, which says how the client is served and
// may take as long as it takes. Then the shim sends each line of
// its client as a Line with a number of its own, from 1 on without a gap, and
// keeps it until it is accepted. The background process sends Accept, a bare
// number, before it passes the line on to anybody. When it dies, the shim answers
// each accepted request without an answer with an error, and sends what was not
// accepted to the next background process. So no line is lost without an error,
// and none is carried out twice. To that one it repeats the client's initialize in
// its Hello, and the project that the client has activated, as nothing else of the
// conversation is kept.
package wire

import (
	"encoding/binary"
	"errors"
	"strings"
)

// Version is the version of the protocol. Both ends come with one
// installation; a background process that meets another version says so and
// the shim ends.
const Version = 5

// Type says what a frame is.
type Type byte

// The frames from the shim.
const (
	Hello Type = 'H' // the first one; see AppendHello
	Line  Type = 'L' // a line of the client, without its end; numbered
	Long  Type = 'O' // the first HeadLength bytes of a line that is longer than MaxLine; numbered
	Ran   Type = 'R' // after an own Welcome: the process that was started, PID-START as monitor.Identity, "" when it could not be
)

// The frames from the background process.
const (
	Heard   Type = 'G' // the first one: the Hello was read
	Welcome Type = 'W' // a WelcomeMode and a sentence
	Accept  Type = 'A' // the line of that number is worked on from now on
	Deliver Type = 'D' // a line for the client; the number is that of the line it answers, 0 for none
	Moved   Type = 'M' // the project that the client has activated, which the next Hello repeats; "" while that is not certain
	Settle  Type = 'S' // nothing answers the line of that number any more
	Say     Type = 'T' // a sentence for the user, on standard error
	Bye     Type = 'X' // the shim ends; an exit status in one byte, and a sentence
)

// types are all of them.
const types = "HLORGWADMSTX"

// WelcomeMode is the first byte of a Welcome.
type WelcomeMode byte

// The modes.
const (
	Shared WelcomeMode = 'S' // lines go through the background process
	Own    WelcomeMode = 'O' // the shim runs the command itself; the sentence says why
)

// Limits, in bytes.
const (
	HeaderLength = 13
	MaxLine      = 256 << 20 // of a line of the client, and of one for it
	HeadLength   = 64 << 10  // of a Long
	MaxBegin     = 1 << 20   // of an initialize that a Hello repeats; a conversation with a longer one ends with the background process
	MaxHello     = 2*MaxBegin + 4<<20
	maxShort     = 1 << 20 // of what follows any other header
)

// ErrFrame says that what was received is no frame.
var ErrFrame = errors.New("not a frame")

// Header begins a frame.
type Header struct {
	Type   Type
	Seq    uint64
	Length int // of what follows
}

// AppendHeader appends a header: the type, and big-endian the number (8 bytes)
// and the length (4 bytes).
func AppendHeader(dst []byte, h Header) []byte {
	dst = append(dst, byte(h.Type))
	dst = binary.BigEndian.AppendUint64(dst, h.Seq)
	return binary.BigEndian.AppendUint32(dst, uint32(h.Length))
}

// ParseHeader reads a header, the first HeaderLength bytes of b. It refuses what
// no end sends, with an error that Is ErrFrame: so a stranger cannot make us
// reserve memory.
func ParseHeader(b []byte) (Header, error) {
	if len(b) < HeaderLength {
		return Header{}, ErrFrame
	}
	h := Header{Type: Type(b[0]), Seq: binary.BigEndian.Uint64(b[1:])}
	length := binary.BigEndian.Uint32(b[9:])
	limit := uint32(maxShort)
	switch h.Type {
	case Hello, Line, Deliver:
		limit = MaxLine
	case Accept, Settle, Heard:
		limit = 0
	}
	isNumbered := h.Type == Line || h.Type == Long || h.Type == Accept || h.Type == Settle // always about a line of the client
	if strings.IndexByte(types, b[0]) < 0 || length > limit || isNumbered && h.Seq == 0 {
		return Header{}, ErrFrame
	}
	h.Length = int(length)
	return h, nil
}
