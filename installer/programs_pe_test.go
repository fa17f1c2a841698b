package installer

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// peProgram is the least of a Windows program.
func peProgram(subsystem uint16) []byte {
	program := make([]byte, 0x80+peHeaderSize+240)
	copy(program, "MZ")
	binary.LittleEndian.PutUint32(program[peOffsetAt:], 0x80)
	copy(program[0x80:], "PE\x00\x00")
	binary.LittleEndian.PutUint16(program[0x84:], pe.IMAGE_FILE_MACHINE_AMD64)
	binary.LittleEndian.PutUint16(program[0x80+4+16:], 240)
	optional := program[0x80+peHeaderSize:]
	binary.LittleEndian.PutUint16(optional, peOptional64)
	binary.LittleEndian.PutUint16(optional[peSubsystemAt:], subsystem)
	binary.LittleEndian.PutUint32(optional[108:], 16) // NumberOfRvaAndSizes
	return program
}

func TestWithoutConsole(t *testing.T) {
	program := peProgram(subsystemCUI)
	before := bytes.Clone(program)
	if err := withoutConsole(program); err != nil {
		t.Fatal(err)
	}
	file, err := pe.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	if got := file.OptionalHeader.(*pe.OptionalHeader64).Subsystem; got != pe.IMAGE_SUBSYSTEM_WINDOWS_GUI {
		t.Errorf("the subsystem is %d", got)
	}
	different := 0
	for n := range program {
		if program[n] != before[n] {
			different++
		}
	}
	if different != 1 {
		t.Errorf("%d bytes have changed", different)
	}
	if err := withoutConsole(program); err != nil {
		t.Errorf("a program without a console: %v", err)
	}
}

func TestOpenOfWhatIsNoProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.exe")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (Change{Op: OpCopy, From: path, GUI: true}).sum(t.Context()); err == nil {
		t.Error("it was taken for a Windows program")
	}
}
