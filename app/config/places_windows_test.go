package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

func TestSystemBaseOnWindows(t *testing.T) {
	base := SystemBase()
	local := os.Getenv("LOCALAPPDATA")
	if local == "" || !strings.EqualFold(base.ConfigHome, local) || !strings.EqualFold(base.StateHome, local) {
		t.Errorf("%+v, not in %s", base, local)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	if want := `\\.\pipe\lamplighter-control-` + user.User.Sid.String(); base.PipeName != want {
		t.Errorf("the pipe is %s, want %s", base.PipeName, want)
	}
	if want := `\\.\pipe\lamplighter-share-` + user.User.Sid.String(); base.SharePipe != want {
		t.Errorf("the pipe for clients is %s, want %s", base.SharePipe, want)
	}
	places := Find("", func(string) string { return "" }, base)
	for _, path := range []string{places.Config, places.StateDir, places.LockFallback} {
		if !filepath.IsAbs(path) {
			t.Errorf("%q in %+v", path, places)
		}
	}
	if places.ControlSocket != base.PipeName || places.ShareSocket != base.SharePipe {
		t.Errorf("the pipes are %s and %s", places.ControlSocket, places.ShareSocket)
	}
}

// Only whether a directory can be made is looked at: who may write to it is the
// business of the profile it lies in.
func TestMakePrivateOnWindows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "lamplighter")
	for range 2 {
		if err := MakePrivate(dir, "VARIABLE"); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(filepath.Join(file, "x"), "VARIABLE"); err == nil {
		t.Error("a directory below a file")
	}
}
