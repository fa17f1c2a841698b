package confine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"lamplighter/app/workspace/mounts"
)

// facts are what tells why no namespaces can be had.
type facts struct {
	root      bool
	userns    bool   // the kernel knows user namespaces
	clone     string // kernel.unprivileged_userns_clone, "" where there is none
	apparmor  string // kernel.apparmor_restrict_unprivileged_userns, likewise
	most      string // user.max_user_namespaces, likewise
	chrooted  bool
	filtered  bool // a seccomp filter holds for us
	maskedFor bool // parts of /proc are covered, as in containers
}

// reason says in words why a try has failed, and what to do.
func reason(err error, f facts) string {
	switch {
	case !f.userns:
		return "this kernel has no user namespaces (CONFIG_USER_NS)"
	case f.clone == "0" && !f.root:
		return "the kernel gives user namespaces only to root: set kernel.unprivileged_userns_clone to 1 with sysctl"
	case f.most == "0":
		return "the kernel gives no user namespaces: set user.max_user_namespaces to more than 0 with sysctl"
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EUSERS):
		return "there are as many user namespaces, or as many in each other, as the kernel gives"
	case f.apparmor == "1" && !f.root:
		return "AppArmor restricts user namespaces: give lamplighter a profile with userns, or set kernel.apparmor_restrict_unprivileged_userns to 0 with sysctl"
	case f.chrooted:
		return "the kernel gives no user namespaces in a chroot"
	case f.filtered && denied(err):
		return "a filter for system calls (seccomp) forbids it, as in containers: allow the container user namespaces"
	case f.maskedFor && denied(err):
		return "parts of /proc are covered, as in containers, so that none can be had for the job alone"
	}
	return err.Error()
}

func denied(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSYS)
}

func unavailable(err error) error {
	return fmt.Errorf("%w: %s", ErrUnavailable, reason(err, look()))
}

func look() facts {
	text := func(path string) string {
		data, _ := os.ReadFile(path) // "" where there is none
		return strings.TrimSpace(string(data))
	}
	_, noUserns := os.Stat("/proc/self/ns/user")
	table := text("/proc/self/mountinfo")
	return facts{
		root: os.Geteuid() == 0, userns: noUserns == nil,
		clone:    text("/proc/sys/kernel/unprivileged_userns_clone"),
		apparmor: text("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
		most:     text("/proc/sys/user/max_user_namespaces"),
		// The root of a chroot is no mount point, usually.
		chrooted:  table != "" && !mountedAt(table, "/"),
		filtered:  strings.Contains(text("/proc/self/status"), "\nSeccomp:\t2"),
		maskedFor: mountedAt(table, "/proc/kcore") || mountedAt(table, "/proc/keys"),
	}
}

// mountedAt reports whether a /proc/self/mountinfo has something mounted at a path.
func mountedAt(mountinfo, path string) bool {
	for m := range mounts.All(mountinfo) {
		if m.At == path {
			return true
		}
	}
	return false
}
