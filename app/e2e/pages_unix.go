//go:build unix

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// PageAt is the address of the page on a port.
func PageAt(port int) string { return fmt.Sprintf("http://127.0.0.1:%d/global-dashboard/", port) }

// Fetch asks as curl does. A port that nobody serves gives status 0.
func Fetch(t *testing.T, address string) (status int, header http.Header, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, ""
	}
	return resp.StatusCode, resp.Header, string(text)
}

// Serves waits until the page is at an address.
func Serves(t *testing.T, address string) {
	t.Helper()
	apptest.Eventually(t, "the page is at "+address, func() bool {
		status, _, body := Fetch(t, address)
		return status == http.StatusOK && strings.Contains(body, `<title>Lamplighter</title>`)
	})
}

// TellsOfServers waits until the page tells of the servers, and returns what: it is
// there before the first look for them.
func TellsOfServers(t *testing.T, page string) (body string) {
	t.Helper()
	apptest.Eventually(t, "it has looked for servers", func() bool {
		var status int
		status, _, body = Fetch(t, page+"instances")
		return status == http.StatusOK
	})
	return body
}

// Settings writes our own settings file.
func (h *Home) Settings(t *testing.T, text string) {
	t.Helper()
	h.Write(t, text, ".config", "lamplighter", "config.yaml")
}

// SerenaSettings writes Serena's.
func (h *Home) SerenaSettings(t *testing.T, text string) {
	t.Helper()
	h.Write(t, text, ".serena", "serena_config.yml")
}

// Opened are the addresses that the browser was asked to open.
func (h *Home) Opened(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(h.Path("opened"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// AwaitOpened is opened, once it is that many: who orders one does not wait for a
// browser that takes long to start.
func (h *Home) AwaitOpened(t *testing.T, many int) []string {
	t.Helper()
	apptest.Eventually(t, fmt.Sprintf("%d opened", many), func() bool { return len(h.Opened(t)) >= many })
	return h.Opened(t)
}

func PortSetting(port int) string { return "web_dashboard_global_port: " + strconv.Itoa(port) + "\n" }

// Acme starts a server that a rule recognises, and returns its label.
func (h *Home) Acme(t *testing.T) string {
	t.Helper()
	h.Write(t, "import time; print(flush=True); time.sleep(600)\n", "acme-server.py")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("%v: install python3", err)
	}
	server := exec.Command(python, "-u", h.Path("acme-server.py"), "--serve")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	return strconv.Itoa(server.Process.Pid) + " - acme"
}

const AcmeRule = "servers:\n  - name: acme\n    program: python\n    arguments: [acme-server.py, --serve]\n"
