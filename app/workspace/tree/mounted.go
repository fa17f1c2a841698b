package tree

import (
	"fmt"
	"path/filepath"
)

// Mounted is an error that Is ErrMounted when a file system, or a directory of the
// same one, is mounted on dir or below it: before something else removes dir that
// would go into it. Where the system does not tell, it is an error too. A link in
// the place of dir is not followed.
func Mounted(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("looking for what is mounted in a directory: %w", err)
	}
	at, is, err := mountedIn(filepath.Join(parent, filepath.Base(path)))
	if err != nil {
		return fmt.Errorf("looking for what is mounted in a directory: %w", err)
	}
	if is {
		return fmt.Errorf("%q: %w", at, ErrMounted)
	}
	return nil
}
