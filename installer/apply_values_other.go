//go:build !windows

package installer

import "errors"

var errNoValues = errors.New("this system has no registry")

// systemRegistry is that of the system, which has none.
type systemRegistry struct{}

func (systemRegistry) get(string, string) (*value, error) { return nil, errNoValues }
func (systemRegistry) set(string, string, *value) error   { return errNoValues }
func (systemRegistry) text(string) (*value, error)        { return nil, errNoValues }
