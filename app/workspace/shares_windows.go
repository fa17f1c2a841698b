package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// link makes a link at place in root that leads to a directory: a symbolic one
// where we may make these, else a junction, which anybody may make.
func link(root *os.Root, to, place string) error {
	path := filepath.Join(root.Name(), place)
	symbolic := os.Symlink(to, path) // knows that it leads to a directory
	if symbolic == nil {
		return nil
	}
	for _, text := range []string{to, path} {
		if strings.ContainsAny(text, "\"%!^&|<>\r\n") { // cmd would take these for its own
			return symbolic
		}
	}
	cmd := exec.Command("cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CmdLine:       `cmd.exe /d /s /c "mklink /J "` + path + `" "` + to + `""`,
		CreationFlags: windows.CREATE_NO_WINDOW, HideWindow: true,
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(symbolic, fmt.Errorf("making a junction: %w: %q", err, out))
	}
	return nil
}
