//go:build unix && !darwin

package socket

import (
	"os"

	"github.com/coreos/go-systemd/v22/activation"
)

// passedFiles are the descriptors that systemd has passed on to us; their names
// are those that it gives them.
func passedFiles() ([]*os.File, error) { return activation.Files(true), nil }
