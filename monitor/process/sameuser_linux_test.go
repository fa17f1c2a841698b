package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestParseUsers(t *testing.T) {
	for _, c := range []struct {
		in   string
		want [3]uint32
		ok   bool
	}{
		{"Name:\tx\nUid:\t1000\t1001\t1002\t1003\nGid:\t5\t5\t5\t5\n", [3]uint32{1000, 1001, 1002}, true},
		{"Uid:\t0\t0\t4294967295\t0\n", [3]uint32{0, 0, 1<<32 - 1}, true},
		{"Uid:\t0\t0\t4294967296\t0\n", [3]uint32{}, false},
		{"Uid:\t0\t0\t0\n", [3]uint32{}, false},
		{"Gid:\t0\t0\t0\t0\n", [3]uint32{}, false},
		{"", [3]uint32{}, false},
	} {
		if got, ok := parseUsers([]byte(c.in)); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %v, %v", c.in, got, ok)
		}
	}
}

func FuzzParseUsers(f *testing.F) {
	f.Add([]byte("Name:\tx\nUid:\t1000\t1001\t1002\t1003\n"))
	f.Fuzz(func(t *testing.T, b []byte) { parseUsers(b) })
}

// startAsAnother starts a program as a user that is not ours, and returns that
// user. Without the rights to, it is started as our own.
func startAsAnother(t *testing.T, command func() *exec.Cmd) (cmd *exec.Cmd, user int) {
	t.Helper()
	const somebody = 4242
	cmd = command()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody, NoSetGroups: true}}
	err := cmd.Start()
	if user = somebody; err != nil {
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EINVAL) {
			t.Fatal(err)
		}
		cmd, user = command(), os.Getuid()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, user
}

func TestSameUserOfAProcess(t *testing.T) {
	cmd, user := startAsAnother(t, func() *exec.Cmd { return exec.Command("sleep", "600") })
	if ours, err := SameUser(cmd.Process.Pid); ours != (user == os.Getuid()) || err != nil {
		t.Error(user, ours, err)
	}
	if ours, err := SameUser(unused(t)); ours || !errors.Is(err, ErrGone) {
		t.Error(ours, err)
	}
}

// TestSameUserInEveryRespect reads what processes of ours and of others show.
func TestSameUserInEveryRespect(t *testing.T) {
	root := t.TempDir()
	for name, c := range map[string]struct {
		uid  string // as shown; o stands for our user, x for another
		want bool
	}{
		"ours": {"o o o o", true}, "started by another": {"x o o o", false}, "with another's rights": {"o x o x", false},
		"with a way back": {"o o x o", false}, "another's": {"x x x x", false}, "its files another's": {"o o o x", true},
	} {
		dir := filepath.Join(root, "7")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		uid := strings.NewReplacer("o", strconv.Itoa(os.Getuid()), "x", strconv.Itoa(os.Getuid()+1), " ", "\t").Replace(c.uid)
		if err := os.WriteFile(filepath.Join(dir, "status"), []byte("Name:\tx\nUid:\t"+uid+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := (procfs{root}).sameUser(7); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
