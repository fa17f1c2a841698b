package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// acmeMode is the first argument with which the test program is an MCP server
// itself, one of the official Go SDK.
const acmeMode = "acme-server"

func init() {
	if len(os.Args) > 1 && os.Args[1] == acmeMode {
		os.Exit(serveAcme(os.Args[2:]))
	}
}

// AcmeServer is the command line of that server, on a port of the launcher's.
func AcmeServer(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, acmeMode, "--port", "{port}", "--project", "{project}"}
}

func serveAcme(args []string) int {
	flags := flag.NewFlagSet(acmeMode, flag.ContinueOnError)
	var (
		port = flags.Int("port", 0, "")
		_    = flags.String("project", "", "")
	)
	if err := flags.Parse(args); err != nil {
		return 2
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "acme", Version: "1"}, nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+strconv.Itoa(*port), mux))
	return 1
}

// ProjectDir makes an empty project with a name.
func ProjectDir(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
