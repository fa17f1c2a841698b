package cli

import (
	"errors"
	"fmt"
	"strings"

	"lamplighter/app/api"
	"lamplighter/monitor"
)

// account is whose account a process has, and whose the home directory is. -1 is
// what is not known, or where the system has no such numbers.
type account struct{ uid, owner int }

// sudo is what sudo tells those that it runs, and those that they run: SUDO_USER and
// SUDO_COMMAND.
//
// Source: sudo(8), "ENVIRONMENT".
type sudo struct{ user, command string }

// directly reports whether it was told to run us, and not a shell that we were typed into.
// Where it does not say what it has run, that counts as us.
func (s sudo) directly() bool { return s.command == "" || strings.Contains(s.command, api.Program) }

// errAccount: what is for one user would be done for another one.
var errAccount = errors.New("it would be for another user")

// wrong says why an installation into that home directory would not be for the user
// who wants it: sudo keeps what it pleases of an environment, and files of root in
// the home of somebody else are a nuisance for ever. Root in a shell of its own, as by
// sudo -i, means itself.
func (a account) wrong(home string, by sudo) error {
	switch {
	case a.uid < 0:
		return nil
	case a.uid == 0 && by.user != "" && by.user != "root" && (a.owner != 0 || by.directly()):
		return fmt.Errorf("below sudo %w, root; it is for each user alone, and needs no root: do this as %s, without sudo", errAccount, monitor.Clean(by.user))
	case a.owner >= 0 && a.owner != a.uid && (a.uid == 0 || a.owner != 0): // machines that run containers give root the home of everybody
		return fmt.Errorf("%w: the home directory %s is not yours; set HOME to your own", errAccount, monitor.Clean(home))
	}
	return nil
}

// rootNote tells who has it when root installs it.
const rootNote = "It is installed for root alone; other users run lamplighter install for themselves."

// mayInstall refuses to install, or to take away, for the wrong user.
func (p *program) mayInstall() error {
	if p.account == nil {
		return nil
	}
	return p.account(p.Base.Home).wrong(p.Base.Home, sudo{user: p.Getenv("SUDO_USER"), command: p.Getenv("SUDO_COMMAND")})
}

// isRoot reports whether root installs.
func (p *program) isRoot() bool { return p.account != nil && p.account(p.Base.Home).uid == 0 }
