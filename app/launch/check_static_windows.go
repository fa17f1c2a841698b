package launch

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// notFoundHint is what users know this failure by.
const notFoundHint = winError

func executable(path, shown string) seen {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".exe", ".com", ".bat", ".cmd":
		return seen{}
	}
	return seen{NotExecutable, fmt.Sprintf("%s is no program of Windows: its name ends neither with .exe nor with .com, .bat or .cmd.", shown)}
}

func isForeign(err error) bool {
	return errors.Is(err, windows.ERROR_BAD_EXE_FORMAT) || errors.Is(err, windows.ERROR_EXE_MACHINE_TYPE_MISMATCH)
}
