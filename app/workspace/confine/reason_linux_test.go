package confine

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReason(t *testing.T) {
	fine := facts{userns: true, most: "1000", clone: "1", apparmor: "0"}
	denied := fmt.Errorf("making all read-only: %w", syscall.EPERM)
	for what, test := range map[string]struct {
		err    error
		change func(*facts)
		want   string
	}{
		"no such thing":         {syscall.EINVAL, func(f *facts) { f.userns = false }, "CONFIG_USER_NS"},
		"for root only":         {denied, func(f *facts) { f.clone = "0" }, "kernel.unprivileged_userns_clone to 1"},
		"for root, who we are":  {denied, func(f *facts) { f.clone, f.root = "0", true }, "making all read-only"},
		"none":                  {syscall.ENOSPC, func(f *facts) { f.most = "0" }, "user.max_user_namespaces"},
		"too many":              {syscall.ENOSPC, func(*facts) {}, "as many"},
		"AppArmor":              {fmt.Errorf("x: %w", syscall.EACCES), func(f *facts) { f.apparmor = "1" }, "AppArmor"},
		"AppArmor, we are root": {denied, func(f *facts) { f.apparmor, f.root = "1", true }, "making all read-only"},
		"chroot":                {denied, func(f *facts) { f.chrooted = true }, "chroot"},
		"container":             {denied, func(f *facts) { f.filtered = true }, "seccomp"},
		"covered":               {denied, func(f *facts) { f.maskedFor = true }, "/proc are covered"},
		"something else":        {errors.New("odd"), func(f *facts) { f.filtered, f.maskedFor = true, true }, "odd"},
	} {
		f := fine
		test.change(&f)
		if got := reason(test.err, f); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", what, got)
		}
	}
	if err := unavailable(denied); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
}

// TestFilter runs the program that looks at system calls.
func TestFilter(t *testing.T) {
	const allow, refuse = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	for name, a := range abis {
		for what, test := range map[string]struct {
			arch, call, second, want uint32
		}{
			"another call":    {a.arch, 1000, unix.TIOCSTI, allow},
			"types":           {a.arch, a.ioctl, unix.TIOCSTI, refuse},
			"selects":         {a.arch, a.ioctl, unix.TIOCLINUX, refuse},
			"asks":            {a.arch, a.ioctl, unix.TCGETS, allow},
			"of 32 bits":      {a.compatArch, a.compatIoctl, unix.TIOCSTI, refuse},
			"of 32, selects":  {a.compatArch, a.compatIoctl, unix.TIOCLINUX, refuse},
			"of 32, asks":     {a.compatArch, a.compatIoctl, unix.TCGETS, allow},
			"of 32, another":  {a.compatArch, 1000, unix.TIOCSTI, allow},
			"of x32":          {a.arch, 0x40000000 | 514, unix.TIOCSTI, refuse},
			"of another kind": {1, a.ioctl, unix.TCGETS, refuse},
		} {
			data := map[uint32]uint32{0: test.call, 4: test.arch, 24: test.second}
			if got := run(t, a.filter(), data); got != test.want {
				t.Errorf("%s, %s: %#x", name, what, got)
			}
		}
	}
}

func run(t *testing.T, program []unix.SockFilter, data map[uint32]uint32) uint32 {
	t.Helper()
	var loaded uint32
	for at := 0; at < len(program); at++ {
		step := program[at]
		jump := func(yes bool) {
			if yes {
				at += int(step.Jt)
			} else {
				at += int(step.Jf)
			}
		}
		switch step.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			loaded = data[step.K]
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(loaded == step.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(loaded >= step.K)
		case unix.BPF_RET | unix.BPF_K:
			return step.K
		default:
			t.Fatalf("%+v", step)
		}
	}
	t.Fatal("it does not end")
	return 0
}

func TestForward(t *testing.T) {
	for sig, want := range map[syscall.Signal]syscall.Signal{
		unix.SIGTERM: unix.SIGTERM, unix.SIGHUP: unix.SIGHUP, unix.SIGINT: 0, unix.SIGQUIT: 0,
		unix.SIGINT + passedOn: unix.SIGINT, unix.SIGQUIT + passedOn: unix.SIGQUIT, unix.SIGTERM + passedOn: unix.SIGTERM,
		unix.SIGWINCH: 0, unix.SIGKILL + passedOn: 0,
	} {
		if got, ok := forward(sig); ok != (want != 0) || ok && got != want {
			t.Errorf("%v: %v, %v", sig, got, ok)
		}
	}
}
