//go:build unix

package daemon

import "lamplighter/monitor/process"

// loginID names the boot, which a login does not outlive. Where the runtime
// directory tells logins apart, as systemd has it, that is what matters; elsewhere
// nothing tells them apart that is the same for a terminal, a desktop and a
// service of one login, so that a second login of the same boot has the same name.
func loginID() (string, error) { return process.BootID() }
