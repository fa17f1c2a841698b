package cli

import "golang.org/x/sys/unix"

// loginID names the boot, which a login does not outlive; a second login of the
// same boot has the same name.
//
// Source: kern.bootsessionuuid, bsd/kern/kern_sysctl.c of XNU.
func loginID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
