package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

func TestWhyItWasNotStarted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing"): "no such file or directory",
		dir:                           "it is a directory",
		write("no interpreter", "#!/no/such/python\n", 0o700):            "not the interpreter that it names",
		write("not executable", "#!/bin/sh\n", 0o600):                    "must be executable",
		write("not a program", "text", 0o700):                            "not a program for this machine",
		write("interpreter is none", "#!"+dir+"/not a program\n", 0o700): "interpreter",
	} {
		w := newWorld(t)
		w.own(t)
		k := w.keep(t, session, path)
		if status := k.status(t); status != 1 {
			t.Errorf("%s: exit status %d", path, status)
		}
		if why, _ := k.said("failed"); !strings.Contains(why, want) || !strings.Contains(why, path) {
			t.Errorf("%s: %q", path, why)
		}
	}
}

// TestDiskFull: what does not fit into the log is lost, and nothing else.
func TestDiskFull(t *testing.T) {
	w := newWorld(t)
	const size = 64 << 10
	// In a mount namespace of its own, which build/isolated.sh has made.
	if err := syscall.Mount("tmpfs", w.dir, "tmpfs", 0, "size="+strconv.Itoa(size)); err != nil {
		t.Fatalf("mounting a small disk: %v; run the tests in build/isolated.sh", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(w.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	w.own(t)
	k := w.keepHelper(t, session, "flood")
	output, exited := k.finished(t)
	if exited != "code 0" || len(output) != maxLast || !strings.HasSuffix(output, "the end\n") {
		t.Errorf("it ended with %s after %d bytes", exited, len(output))
	}
	if log := w.log(t); len(log) != size {
		t.Errorf("%d bytes of the log fit", len(log))
	}
}

// TestWhatAServerGets is everything that a program finds when it is started.
func TestWhatAServerGets(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	dir := t.TempDir()
	// It looks at its signals without a fork, in which a shell blocks them.
	const script = `
		echo "dir $(pwd)"
		echo "input $(readlink /proc/self/fd/0)"
		echo "value $VALUE"
		cut -d " " -f 1,5,6 /proc/$$/stat
		while read -r line; do case $line in SigBlk*|SigIgn*) echo "$line";; esac; done </proc/$$/status
		printf "%s|" "$0" "$@"
		echo ready
		exec sleep 600`
	cmd := w.keeperCommand(session, "/bin/sh", "-c", script, "name", "an argument", "", "--", "\"quoted\"\n")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "VALUE=a value")
	inherited, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	cmd.ExtraFiles = []*os.File{inherited}
	k := w.run(t, cmd)
	k.prints(t, "|ready\n")
	output := w.log(t)
	keeper, server := strconv.Itoa(k.cmd.Process.Pid), strconv.Itoa(k.server(t))
	apptest.Contains(t, output, "dir "+dir+"\n", "input /dev/null\n", "value a value\n",
		"\n"+server+" "+server+" "+keeper+"\n", // a process group of its own in the keeper's session
		"SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n",
		"name|an argument||--|\"quoted\"\n|")
	// What the keeper has open, or has inherited itself, is not for the server.
	apptest.Eventually(t, "the server runs sleep", func() bool {
		exe, err := os.Readlink("/proc/" + server + "/exe")
		return err == nil && !strings.HasSuffix(exe, "sh")
	})
	apptest.Eventually(t, "it has nothing else open, once it has read its libraries", func() bool {
		open := numbered("/proc/" + server + "/fd")
		slices.Sort(open)
		return slices.Equal(open, []int{0, 1, 2})
	})
	k.signal(t, syscall.SIGTERM)
	k.finished(t)
}

// TestOutputHeldElsewhere: somebody who is no descendant and has the server's
// output open holds up nobody.
func TestOutputHeldElsewhere(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	k := w.script(t, session, `echo ready; exec sleep 600`)
	k.prints(t, "ready\n")
	held, err := os.OpenFile("/proc/"+strconv.Itoa(k.server(t))+"/fd/1", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	k.signal(t, syscall.SIGTERM)
	if output, _ := k.finished(t); output != "ready\n" {
		t.Errorf("it printed %q", output)
	}
	k.gone(t)
}

// maxResident is how much memory a keeper may use, in KiB. It uses about 3 MB, as
// docs/sessions.md says.
const maxResident = 3<<10 + 256

// TestSmall: a keeper stays small, also after much has happened.
func TestSmall(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	begin := filepath.Join(w.dir, "begin")
	k := w.script(t, session, `echo ready; until [ -e '`+begin+`' ]; do sleep 0.01; done; head -c 20000000 /dev/zero; i=0; while [ $i -lt 500 ]; do true & i=$((i+1)); done; wait; echo more; exec sleep 600`)
	k.prints(t, "ready\n")
	fresh := resident(t, k)
	if err := os.WriteFile(begin, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "the server is done", func() bool { return strings.HasSuffix(w.log(t), "more\n") })
	used := resident(t, k)
	t.Logf("%d KiB, and %d KiB later", fresh, used)
	if used > maxResident {
		t.Errorf("%d KiB are resident", used)
	}
	k.signal(t, syscall.SIGTERM)
	k.finished(t)
}

func resident(t *testing.T, k *keeper) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(k.cmd.Process.Pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			if kib, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
				return kib
			}
		}
	}
	t.Fatalf("no VmRSS in %s", text)
	return 0
}
