//go:build real && linux

package socket

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lamplighter/app/apptest"
)

// systemd's own tool makes the socket, and starts us at the first connection.
func TestActivatedBySystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "share.sock")
	cmd := exec.CommandContext(t.Context(), "systemd-socket-activate", "--listen="+path, "--fdname=share", "-E", helperTask+"=inherit", os.Args[0], path)
	var out apptest.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	served := ""
	apptest.Eventually(t, "the socket is there", func() bool { served = whoServes(path); return served != "" })
	if served != "served\n" {
		t.Errorf("got %q: %s", served, out.String())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	apptest.Contains(t, out.String(), "inherited "+path)
}
