package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"lamplighter/app/config"
	"lamplighter/monitor/statefile"
)

// markFile says that the global dashboard was opened by itself in this login.
const markFile = "global-dashboard-opened"

// loginMark is a file that keeps something from being done twice in one login.
type loginMark struct {
	path     string // empty: there is no place for it
	variable string // sets another place
	lasting  bool   // the file outlives the login, so that only login tells whether it is of this one
	login    func() (string, error)
}

// newLoginMark finds the place: in the runtime directory, which goes with the
// login, else in the state directory, which stays.
func newLoginMark(runtimeDir, stateDir string) loginMark {
	switch {
	case runtimeDir != "":
		return loginMark{path: filepath.Join(runtimeDir, "lamplighter", markFile), variable: "XDG_RUNTIME_DIR", login: loginID}
	case stateDir != "":
		return loginMark{path: filepath.Join(stateDir, markFile), variable: "LAMPLIGHTER_STATE_DIR", lasting: true, login: loginID}
	}
	return loginMark{}
}

// claim writes the mark and tells whether it was not there yet. With an error
// that is not known, or the next one could not know it: then the thing is not
// to be done. One process at a time may call it, which the single-instance lock
// sees to.
func (m loginMark) claim() (first bool, err error) {
	if m.path == "" {
		return false, errors.New("there is no place to note it; set XDG_RUNTIME_DIR or LAMPLIGHTER_STATE_DIR")
	}
	login, err := m.login()
	switch {
	case err != nil && m.lasting:
		return false, fmt.Errorf("the system does not tell one login from another: %w", err)
	case err != nil:
		login = "this login"
	}
	if err := config.MakePrivate(filepath.Dir(m.path), m.variable); err != nil {
		return false, err
	}
	written, err := statefile.Read(m.path, longestMark)
	switch {
	case err == nil && string(written) == login+"\n":
		return false, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, statefile.ErrTooLarge):
		return false, err
	}
	return true, statefile.Replace(m.path, []byte(login+"\n"))
}

// longestMark is how long a mark may be, in bytes.
const longestMark = 200
