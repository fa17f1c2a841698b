package confine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// helperSpec makes the test binary run the job that it holds.
const helperSpec = "LAMPLIGHTER_CONFINE_TEST_SPEC"

func TestMain(m *testing.M) {
	if inside, status := Main(os.Args[1:]); inside {
		os.Exit(status)
	}
	if text, set := os.LookupEnv(helperSpec); set {
		os.Exit(helper(text))
	}
	goleak.VerifyTestMain(m)
}

// sent is a Spec without what cannot be sent.
type sent struct {
	Spec
	Signals int `json:",omitempty"`
}

// notRun is the status of a helper whose job could not be run.
const notRun = 99

func helper(text string) int {
	var s sent
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return notRun
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	s.Stdin, s.Stdout, s.Stderr, s.Spec.Signals = os.Stdin, os.Stdout, os.Stderr, signals
	s.Env = append(os.Environ(), s.Env...)
	os.Unsetenv(helperSpec)
	status, err := Run(context.Background(), s.Spec)
	if err != nil {
		how := fmt.Sprintf("unavailable=%v", errors.Is(err, ErrUnavailable))
		if errors.Is(err, ErrNotStarted) {
			how += fmt.Sprintf(", not started, missing=%v", errors.Is(err, fs.ErrNotExist))
		}
		fmt.Fprintf(os.Stderr, "%s: %v\n", how, err)
		return notRun
	}
	return status
}

// users are those that tests run jobs as: we, and nobody in particular too where
// we are root of all users.
func users(t *testing.T) map[string]int {
	t.Helper()
	if os.Getuid() != 0 {
		return map[string]int{"user": os.Getuid()}
	}
	const nobody = 65534
	if err := os.Lchown(t.TempDir(), nobody, nobody); err != nil {
		return map[string]int{"root": 0} // in a namespace with no other user
	}
	return map[string]int{"root": 0, "nobody": nobody}
}

// placeOf is a directory of a user's, outside of what is for temporary files,
// which would not be there for a job.
func placeOf(t *testing.T, uid int) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/lib", "confine")
	if home, _ := os.UserHomeDir(); err != nil && home != "" && !strings.HasPrefix(home, "/tmp/") && !strings.HasPrefix(home, "/var/tmp/") {
		dir, err = os.MkdirTemp(home, "confine") // we are not root; the path of a socket has to be short
	}
	if err != nil {
		dir, err = os.MkdirTemp(".", "confine")
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	own(t, uid, dir)
	return dir
}

func own(t *testing.T, uid int, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Lchown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
}

func mkdir(t *testing.T, uid int, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		own(t, uid, path)
	}
}

func write(t *testing.T, uid int, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own(t, uid, path)
}

// command is a helper that runs a job as a user.
func command(t *testing.T, uid int, s Spec) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(sent{Spec: s})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{helperSpec + "=" + string(text), "PATH=" + os.Getenv("PATH"), "HOME=" + s.Dir, "GORACE=atexit_sleep_ms=0"}
	cmd.Env = append(cmd.Env, s.Env...)
	cmd.Dir = "/"
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	return cmd
}

// job runs a script as a job and returns its status and all that it said.
func job(t *testing.T, uid int, s Spec, script string) (int, string) {
	t.Helper()
	s.Command = []string{"sh", "-c", script}
	cmd := command(t, uid, s)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(out.String())
}
