package installer

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestFailuresSayWhatToDo(t *testing.T) {
	for _, test := range []struct {
		err  error
		says string
	}{
		{&fs.PathError{Op: "write", Path: "/tmp/.x.new", Err: syscall.ENOSPC}, "make room"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EROFS}, "make that disk writable"},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, "give yourself the right"},
		{errors.New("odd"), "it is so: /a: odd"},
	} {
		got := failure("it is so:", "/a", test.err)
		if !strings.Contains(got.Error(), test.says) || strings.Contains(got.Error(), ".x.new") || !errors.Is(got, errors.Unwrap(test.err)) && errors.Unwrap(test.err) != nil {
			t.Errorf("%v", got)
		}
	}
	if failure("x", "/a", nil) != nil {
		t.Error("no error is one")
	}
}
