package share

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// at is a server with another address.
type at struct {
	*fakeServer
	url string
}

func (s at) MCPURL() string { return s.url }

// What we have opened ourselves is nobody else's, and what another program has is.
func TestDirect(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := at{url: "http://" + l.Addr().String() + "/mcp"}
	if who, err := direct(t.Context(), Look{Server: s}); who != "" || err != nil {
		t.Errorf("before anybody connects: %q, %v", who, err)
	}
	conn, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if who, err := direct(t.Context(), Look{Server: s}); who != "" || err != nil {
		t.Errorf("of our own: %q, %v", who, err)
	}
	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	other := exec.Command("sleep", "600")
	other.ExtraFiles = []*os.File{file}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	apptest.Eventually(t, "the other program is seen", func() bool {
		who, err := direct(t.Context(), Look{Server: s})
		return err == nil && strings.HasPrefix(who, "sleep (") && strings.HasSuffix(who, ") is connected to it")
	})
	for _, url := range []string{"", "http://127.0.0.1/mcp", "http://127.0.0.1:0/mcp", "http://127.0.0.1:x/"} {
		if who, err := direct(t.Context(), Look{Server: at{url: url}}); who != "" || err == nil {
			t.Errorf("%q: %q, %v", url, who, err)
		}
	}
}
