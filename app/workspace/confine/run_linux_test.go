package confine

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestConfined tries what a job must not be able to do, and what it must.
func TestConfined(t *testing.T) {
	for name, uid := range users(t) {
		t.Run(name, func(t *testing.T) {
			base := placeOf(t, uid)
			at := func(name string) string { return filepath.Join(base, name) }
			mkdir(t, uid, at("store"), at("store/own"), at("store/other"), at("store/tmp"), at("home"), at("share"), at("store/own/kept"), at("run"), at("extra"))
			write(t, uid, at("store/own/file"), "old")
			write(t, uid, at("store/own/kept/file"), "old")
			write(t, uid, at("store/other/file"), "of another")
			write(t, uid, at("home/file"), "of the user")
			write(t, uid, at("share/file"), "shared")
			for link, to := range map[string]string{"store/own/out": "home", "store/own/node_modules": "share"} {
				if err := os.Symlink(at(to), at(link)); err != nil {
					t.Fatal(err)
				}
			}
			listener, err := net.Listen("unix", at("home/listens"))
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			if err := os.Chmod(at("home/listens"), 0o777); err != nil {
				t.Fatal(err)
			}
			bus, err := net.Listen("unix", at("run/bus"))
			if err != nil {
				t.Fatal(err)
			}
			defer bus.Close()
			abstract, err := net.Listen("unix", "@lamplighter-confine-"+strconv.Itoa(os.Getpid())+"-"+name)
			if err != nil {
				t.Fatal(err)
			}
			defer abstract.Close()
			bystander := exec.Command("sleep", "86400")
			if uid != os.Getuid() {
				bystander.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
			}
			if err := bystander.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				bystander.Process.Kill()
				bystander.Wait()
			}()
			pid := strconv.Itoa(bystander.Process.Pid)
			s := Spec{
				Dir: at("store/own"), Confine: true, TempDir: at("store/tmp"),
				Writable: []string{at("store/own"), at("store/tmp"), at("extra")},
				ReadOnly: []string{at("store/own/kept"), at("share")},
				Hidden:   []string{at("store"), at("missing")},
				Env:      []string{"XDG_RUNTIME_DIR=" + at("run")},
			}
			connect := func(address string) string {
				return `python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace("@","\0",1))' ` + address
			}
			for what, test := range map[string]struct {
				script string
				want   bool
			}{
				"writes its tree":        {"echo new > file && mkdir -p a/b && echo x > a/b/c && mv file file2 && mv file2 file", true},
				"writes its TMPDIR":      {"echo x > " + at("store/tmp/x"), true},
				"has it as /tmp":         {"echo x > /tmp/y && test -e " + at("store/tmp/y"), true},
				"has it as /var/tmp":     {"echo x > /var/tmp/z && test -e /tmp/z", true},
				"writes what is named":   {"echo x > " + at("extra/x"), true},
				"writes /dev/null":       {"echo x > /dev/null", true},
				"writes /dev/shm":        {"echo x > /dev/shm/x", true},
				"reads a share":          {"test $(cat node_modules/file) = shared", true},
				"starts others":          {"(sleep 0.01 & wait)", true},
				"sees its own processes": {"test -d /proc/$$ && ps >/dev/null", true},

				"is in its tree":             {`test "$(pwd)" = ` + at("store/own"), true},
				"writes what is kept":        {"echo new > kept/file", false},
				"moves what is kept":         {"mv kept other", false},
				"removes what is kept":       {"rm -rf kept", false},
				"writes a share":             {"echo new > node_modules/file", false},
				"writes the home directory":  {"echo new > " + at("home/file"), false},
				"makes a file there":         {"echo new > " + at("home/new"), false},
				"writes through a link":      {"echo new > out/file", false},
				"makes a link and writes it": {"ln -s " + at("home/file") + " l && echo new > l", false},
				"links a file to itself":     {"ln " + at("home/file") + " hard", false},
				"goes up":                    {"echo new > ../../home/file", false},
				"sees another one":           {"ls ../other", false},
				"makes one beside itself":    {"mkdir ../more", false},
				"writes /etc":                {"touch /etc/lamplighter-confine", false},
				"writes /proc/sys":           {"cat /proc/sys/kernel/core_pattern > /tmp/p && cat /tmp/p > /proc/sys/kernel/core_pattern", false},
				"sees a bystander":           {"cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep 'sleep 86[4]00'", false},
				"kills a bystander":          {"grep -q '^sleep.86[4]00' /proc/" + pid + "/cmdline && kill -0 " + pid, false}, // its pid may be that of another one inside
				"mounts":                     {"mount -t tmpfs none /mnt", false},
				"remounts":                   {"mount -o remount,bind,rw " + at("home"), false},
				"remounts all":               {"mount -o remount,bind,rw /", false},
				"unmounts what covers":       {"umount " + at("store"), false},
				"unmounts /tmp":              {"umount -l /tmp && ls " + base, false},
				"enters the first":           {"nsenter -t 1 -m -- true", false},
				"unmounts as its own root":   {"unshare -r -m sh -c 'umount " + at("store") + "'", false},
				"remounts as its own root":   {"unshare -r -m sh -c 'mount -o remount,bind,rw " + at("home") + "; echo new > " + at("home/file") + "'", false},
				"enters a bystander":         {"nsenter -t " + pid + " -m -- touch " + at("home/entered"), false},
				"reaches the user's bus":     {connect(at("run/bus")), false},
				"sees the runtime directory": {"test $(ls " + at("run") + " | wc -l) != 0", false},
				"reaches who listens":        {connect(at("home/listens")), false},
				"reaches the abstract":       {connect(abstract.Addr().String()), false},
				"reaches its own":            {`python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind("own"); s.listen(1); c=socket.socket(socket.AF_UNIX); c.connect("own")'`, true},
				"is refused to type": {`python3 -c '
import errno, fcntl, sys
try:
    fcntl.ioctl(0, 0x5412, b"x")
except OSError as e:
    sys.exit(0 if e.errno == errno.EPERM else 1)
'`, true},
				"gets capabilities":              {"grep -q 'CapEff:.*[1-9a-f]' /proc/self/status", false},
				"could get any":                  {"grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status", false},
				"leaves the first one with some": {"grep -q 'CapPrm:.*[1-9a-f]' /proc/1/status", false},
			} {
				t.Run(what, func(t *testing.T) {
					status, out := job(t, uid, s, test.script)
					if status == notRun {
						t.Fatalf("it was not run: %s", out)
					}
					if (status == 0) != test.want {
						t.Errorf("status %d: %s", status, out)
					}
				})
			}
			for file, want := range map[string]string{"home/file": "of the user", "share/file": "shared", "store/own/kept/file": "old", "store/other/file": "of another", "store/own/file": "new\n"} {
				if text, err := os.ReadFile(at(file)); err != nil || string(text) != want {
					t.Errorf("%s: %q, %v", file, text, err)
				}
			}
			if _, err := os.Stat("/etc/lamplighter-confine"); err == nil {
				t.Error("/etc was written")
			}
			if err := bystander.Process.Signal(syscall.Signal(0)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	for name, uid := range users(t) {
		base := placeOf(t, uid)
		for _, confine := range []bool{true, false} {
			s := Spec{Dir: base, Confine: confine, Writable: []string{base}}
			for script, want := range map[string]int{
				"true": 0, "exit 3": 3, "kill -TERM $$": 143, "kill -KILL $$": 137,
				"sleep 600 & exit 4": 4,
			} {
				if !confine && strings.Contains(script, "&") {
					continue // nobody ends what it leaves
				}
				if status, out := job(t, uid, s, script); status != want {
					t.Errorf("%s, confined %v, %s: %d, %s", name, confine, script, status, out)
				}
			}
		}
	}
}

// TestOnlyReadOnly are jobs that are not confined.
func TestOnlyReadOnly(t *testing.T) {
	for name, uid := range users(t) {
		t.Run(name, func(t *testing.T) {
			base := placeOf(t, uid)
			at := func(name string) string { return filepath.Join(base, name) }
			mkdir(t, uid, at("share"), at("share/in"), at("own"))
			write(t, uid, at("share/in/file"), "shared")
			s := Spec{Dir: at("own"), ReadOnly: []string{at("share")}}
			for script, want := range map[string]bool{
				"echo x > " + at("share/in/file"):      false,
				"cat " + at("share/in/file"):           true,
				"echo x > " + at("beside"):             true,
				"echo x > own":                         true,
				"kill -0 " + strconv.Itoa(os.Getpid()): uid == os.Getuid(),
			} {
				if status, out := job(t, uid, s, script); (status == 0) != want || status == notRun {
					t.Errorf("%s: %d, %s", script, status, out)
				}
			}
		})
	}
}

func TestNotRun(t *testing.T) {
	base := placeOf(t, os.Getuid())
	for what, test := range map[string]struct {
		spec Spec
		want string
	}{
		"no such command": {Spec{Dir: base, Confine: true, Command: []string{"no-such-command"}}, "not started, missing=true: the command cannot be started: exec: \"no-such-command\""},
		"not confined":    {Spec{Dir: base, Command: []string{"no-such-command"}}, "not started, missing=true: the command cannot be started: exec: \"no-such-command\""},
		"no program":      {Spec{Dir: base, Confine: true, Command: []string{base}}, "not started, missing=false"},
		"none either":     {Spec{Dir: base, Command: []string{base}}, "not started, missing=false"},
		"no such place":   {Spec{Dir: base, Confine: true, Command: []string{"true"}, Writable: []string{base + "/none"}}, "none"},
		"not absolute":    {Spec{Dir: base, Confine: true, Command: []string{"true"}, ReadOnly: []string{"none"}}, "not absolute"},
		"no directory":    {Spec{Dir: base + "/none", Confine: true, Command: []string{"true"}}, "none"},
	} {
		cmd := command(t, os.Getuid(), test.spec)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != notRun || !strings.Contains(string(out), test.want) || strings.Contains(string(out), "not started") != strings.Contains(test.want, "not started") || !strings.Contains(string(out), "unavailable=false") {
			t.Errorf("%s: %d, %s", what, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// TestSignals has a signal reach a job, which decides what to do.
func TestSignals(t *testing.T) {
	for name, uid := range users(t) {
		for _, confine := range []bool{true, false} {
			base := placeOf(t, uid)
			for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
				cmd := command(t, uid, Spec{
					Dir: base, Confine: confine, Writable: []string{base},
					Command: []string{"sh", "-c", `trap 'exit 7' TERM; trap 'exit 8' INT; echo ready; while :; do sleep 0.01; done`},
				})
				cmd.Stderr = os.Stderr
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
					t.Fatalf("%q, %v", line, err)
				}
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait() // the status tells
				if want := map[syscall.Signal]int{syscall.SIGTERM: 7, syscall.SIGINT: 8}[sig]; cmd.ProcessState.ExitCode() != want {
					t.Errorf("%s, confined %v, %v: status %d", name, confine, sig, cmd.ProcessState.ExitCode())
				}
			}
		}
	}
}

func TestByHand(t *testing.T) {
	for _, args := range [][]string{{insideWord, "set-up"}, {insideWord, "init"}, {insideWord, "else"}} {
		cmd := exec.Command("/proc/self/exe", args...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != statusWrong || len(out) == 0 {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
	for _, args := range [][]string{nil, {insideWord}, {"run"}, {"workspace", insideWord, "init"}} {
		if inside, _ := Main(args); inside {
			t.Errorf("%q", args)
		}
	}
}

// A directory that was open before is no way out.
func TestOpenDirectory(t *testing.T) {
	uid := os.Getuid()
	base := placeOf(t, uid)
	at := func(name string) string { return filepath.Join(base, name) }
	mkdir(t, uid, at("own"), at("home"))
	home, err := os.Open(at("home"))
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	cmd := command(t, uid, Spec{
		Dir: at("own"), Confine: true, Writable: []string{at("own")},
		Command: []string{"sh", "-c", "for n in 3 4 5 6 7 8 9; do echo x > /proc/self/fd/$n/file; done; true"},
	})
	for range 6 {
		cmd.ExtraFiles = append(cmd.ExtraFiles, home)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(at("home/file")); err == nil {
		t.Error("it was written")
	}
}
