package main

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/windows"
)

func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW, HideWindow: true}
}

// fill fills a pipe, whose size is that of a page.
func fill(t testing.TB, pipe *os.File) {
	t.Helper()
	if _, err := pipe.Write(make([]byte, os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
}

// endSoon does nothing: Windows kills at once.
func endSoon() {}
