package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// acmeMode is the first argument with which the test program is an MCP server
// itself: one of the official Go SDK, with bad habits on request.
const acmeMode = "acme-server"

func init() {
	if len(os.Args) > 1 && os.Args[1] == acmeMode {
		os.Exit(serveAcme(os.Args[2:]))
	}
}

// acmeServer is the command line of that server. Its port is the launcher's
// unless the habits say otherwise.
func acmeServer(t testing.TB, habits ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, acmeMode, "--port", "{port}", "--project", "{project}"}, habits...)
}

func serveAcme(args []string) int {
	flags := flag.NewFlagSet(acmeMode, flag.ContinueOnError)
	var (
		port     = flags.Int("port", 0, "")
		portFile = flags.String("port-file", "", "where the port is written")
		_        = flags.String("project", "", "")
		version  = flags.Bool("version", false, "")
		say      = flags.String("say", "", "what to say before giving up")
		gate     = flags.String("gate", "", "what must exist before it listens")
		noise    = flags.Int("noise", 0, "MiB to standard error first")
		stubborn = flags.Bool("stubborn", false, "ignore SIGTERM")
		fork     = flags.Bool("fork", false, "go on in a process of its own, as daemons do")
		child    = flags.Bool("child", false, "have a child that ignores SIGTERM too")
		other    = flags.Bool("other", false, "open another port first")
		mute     = flags.Bool("mute", false, "open no port at all")
		brief    = flags.Bool("brief", false, "end after the first answer")
	)
	if err := flags.Parse(args); err != nil {
		return 2
	}
	switch {
	case *version:
		fmt.Println("acme 1.0.0")
		return 0
	case *say != "":
		fmt.Fprintln(os.Stderr, *say)
		return 3
	case *fork:
		again := exec.Command(os.Args[0], append([]string{acmeMode}, withoutFlag(args, "--fork")...)...)
		again.Stdout, again.Stderr = os.Stdout, os.Stderr
		again.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := again.Start(); err != nil {
			return 1
		}
		return 0
	}
	if *stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	if *child {
		// It inherits what is ignored, and leaves the process group.
		below := exec.Command("/bin/sleep", "1000")
		below.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := below.Start(); err != nil {
			return 1
		}
	}
	line := []byte(strings.Repeat("noise ", 170) + "\n")
	for range *noise << 10 {
		os.Stderr.Write(line)
	}
	if *other {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 1
		}
		go http.Serve(l, http.NotFoundHandler())
	}
	for *gate != "" {
		if _, err := os.Stat(*gate); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if *mute {
		select {}
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(*port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if *portFile != "" {
		text := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
		if err := os.WriteFile(*portFile, []byte(text), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "acme", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "where"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, acmeWhere, error) {
		dir, err := os.Getwd()
		return nil, acmeWhere{PID: os.Getpid(), Dir: dir, Args: os.Args[2:], Env: os.Environ()}, err
	})
	handler := http.Handler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	if *brief {
		inner := handler
		handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			inner.ServeHTTP(w, req)
			_ = http.NewResponseController(w).Flush() // or the client sees less
			os.Exit(0)
		})
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	fmt.Fprintln(os.Stderr, http.Serve(l, mux))
	return 1
}

// acmeWhere is what the tool where answers: how the server was started.
type acmeWhere struct {
	PID  int      `json:"pid"`
	Dir  string   `json:"dir"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
}

// withoutFlag is a copy of args without one of them.
func withoutFlag(args []string, name string) []string {
	var rest []string
	for _, a := range args {
		if a != name {
			rest = append(rest, a)
		}
	}
	return rest
}

// projectDir makes an empty project with a name.
func projectDir(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
