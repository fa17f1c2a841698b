package installer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"lamplighter/monitor/statefile"
)

// Where the subsystem of a Windows program is written, and which it is.
//
// Source: "PE Format", Microsoft: the offset of the signature is at 0x3c; the
// optional header follows the signature of 4 bytes and the COFF file header of
// 20, and the subsystem is at 68 of it, in both its forms.
const (
	peOffsetAt    = 0x3c
	peHeaderSize  = 4 + 20
	peSubsystemAt = 68
	subsystemGUI  = 2
	subsystemCUI  = 3
	peOptional32  = 0x10b
	peOptional64  = 0x20b
)

var errNotConsole = errors.New("it is not a Windows program with a console")

// withoutConsole makes a Windows program with a console, in place, one without.
// One that has none stays as it is.
func withoutConsole(program []byte) error {
	if len(program) < peOffsetAt+4 || program[0] != 'M' || program[1] != 'Z' {
		return errNotConsole
	}
	at := uint64(binary.LittleEndian.Uint32(program[peOffsetAt:]))
	if at+peHeaderSize+peSubsystemAt+2 > uint64(len(program)) || !bytes.Equal(program[at:at+4], []byte("PE\x00\x00")) {
		return errNotConsole
	}
	optional := program[at+peHeaderSize:]
	if magic := binary.LittleEndian.Uint16(optional); magic != peOptional32 && magic != peOptional64 {
		return errNotConsole
	}
	switch binary.LittleEndian.Uint16(optional[peSubsystemAt:]) {
	case subsystemGUI:
	case subsystemCUI:
		binary.LittleEndian.PutUint16(optional[peSubsystemAt:], subsystemGUI)
	default:
		return errNotConsole
	}
	return nil
}

// open opens what a change puts somewhere, to be read. Of a program that is
// copied links are followed.
func (c Change) open() (io.ReadCloser, error) {
	if c.Op == OpWrite {
		return io.NopCloser(bytes.NewReader(c.Content)), nil
	}
	if !c.GUI {
		return statefile.OpenShared(c.From)
	}
	program, err := os.ReadFile(c.From)
	if err != nil {
		return nil, err
	}
	if err := withoutConsole(program); err != nil {
		return nil, &os.PathError{Op: "read", Path: c.From, Err: err}
	}
	return io.NopCloser(bytes.NewReader(program)), nil
}
