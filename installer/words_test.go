package installer

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestChangesInWords(t *testing.T) {
	for want, c := range map[string]Change{
		"write /a b (the entry of the menu)":                       {Op: OpWrite, Path: "/a b", Why: "the entry of the menu"},
		"write /a, keeping what is there as /a.lamplighter-backup": {Op: OpWrite, Path: "/a", Backup: true},
		"copy /x to /a": {Op: OpCopy, Path: "/a", From: "/x"},
		"copy /x to /a as a program without a console": {Op: OpCopy, Path: "/a", From: "/x", GUI: true},
		"link /a to /x":            {Op: OpLink, Path: "/a", From: "/x"},
		`remove "/a\nremove /etc"`: {Op: OpRemove, Path: "/a\nremove /etc"},
		`remove "/a\x1b[2J"`:       {Op: OpRemove, Path: "/a\x1b[2J"},
		"remove /хоме/家":           {Op: OpRemove, Path: "/хоме/家"},
		"remove the directory /a":  {Op: OpRemoveTree, Path: "/a"},
		"remove the directory /a, but not workspaces, config.yaml":                 {Op: OpRemoveTree, Path: "/a", Keep: []string{"workspaces", "config.yaml"}},
		"remove what Lamplighter has written into the directory /a":                {Op: OpRemoveTree, Path: "/a", Known: true},
		`set HKCU\K\N to "C:\a b" run`:                                             {Op: OpSetValue, Path: `HKCU\K`, Name: "N", Content: []byte(`"C:\a b" run`)},
		`delete HKCU\K\N`:                                                          {Op: OpDeleteValue, Path: `HKCU\K`, Name: "N"},
		`run systemctl --user "a b" "\x1b" "" (so that systemd knows of its unit)`: {Op: OpRun, Command: []string{"systemctl", "--user", "a b", "\x1b", ""}, Why: "so that systemd knows of its unit"},
		"odd /a": {Op: "odd", Path: "/a"},
	} {
		if got := c.String(); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

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
