//go:build !linux

package doctor

import "errors"

// environOf is not known here.
func environOf(int) ([]string, error) { return nil, errors.ErrUnsupported }
