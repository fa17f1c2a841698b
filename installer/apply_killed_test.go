package installer

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// killVariable has TestInstallUntilKilled install in a directory until a point:
// "DIR|POINT".
const killVariable = "LAMPLIGHTER_TEST_KILLED"

// withLogin is an installation with start at login where that consists of files,
// which one process leaves to the next.
func withLogin(t *testing.T, dir string) (*lab, InstallOptions) {
	l := newLabIn(t, dir)
	if runtime.GOOS == "windows" {
		return l, noLogin
	}
	l.o.OS = "linux"
	return l, InstallOptions{}
}

// TestInstallUntilKilled is what TestAProcessThatIsKilled starts.
func TestInstallUntilKilled(t *testing.T) {
	dir, point, ok := strings.Cut(os.Getenv(killVariable), "|")
	if !ok {
		return
	}
	l, o := withLogin(t, dir)
	l.o.Version = "2"
	i := l.installer()
	i.at = func(at string) error {
		if !strings.HasPrefix(at, point) {
			return nil
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			return err
		}
		select {} // until it is
	}
	p, err := i.PlanInstall(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Fatal("it was not killed: ", i.Do(t.Context(), p, nil))
}

// Nothing of a process that is killed runs any more: no defer, and the lock goes
// with it alone.
func TestAProcessThatIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	points := []string{"journal staging", "stage ", "journal committing", "set aside ", "put ", "journal committed", "discard ", "write the receipt", "forget the journal"}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			l, o := withLogin(t, inMemory(t))
			l.unpack("1")
			l.install(noLogin)
			l.unpack("2")
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestInstallUntilKilled$")
			cmd.Env = append(os.Environ(), killVariable+"="+l.dir+"|"+point)
			if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), "it was not killed") {
				t.Fatalf("%v: %s", err, out)
			}
			if !l.installer().interrupted() && point != "journal staging" {
				t.Error("there is nothing to go on with")
			}
			l.install(o)
			if on := l.installer().Login().On; on == o.NoLogin {
				t.Errorf("start at login is %v", on)
			}
			l.uninstall(UninstallOptions{})
			if all := l.files(); len(all) > 0 {
				t.Errorf("it has left %q", all)
			}
		})
	}
}
