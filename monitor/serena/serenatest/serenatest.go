// Package serenatest starts real Serena servers, and other MCP servers beside
// them, for tests, talks to them as a client does and leaves nothing behind.
//
// Where only the answers of a server matter, Replay gives those that were recorded
// from each version, without starting one.
//
// Only tests import it. What the servers need (Serena itself, uvx, npx, a
// language server) is installed by ./build.sh test; nothing is downloaded from
// here.
package serenatest

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The versions of Serena that the tools hold: the one that a test gets unless
// it asks for another, and the others.
const (
	Version   = "2.1.0"
	Version17 = "1.7.0"
	Version15 = "1.5.3"
)

// toolsVariable names the directory that Tools returns.
const toolsVariable = "LAMPLIGHTER_TEST_TOOLS"

// Tools returns the directory with the tools that ./build.sh test installs:
// venv (Serena, uv and Python's mcp and filelock), venv-VERSION (older ones),
// bin (gopls), node (with npx), and uv and npm (the filled caches of uvx and
// npx). Without it the test fails and says what to run.
func Tools(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(toolsVariable)
	if dir == "" {
		t.Fatalf("%s is not set: run ./build.sh test, or set it to the absolute path of the .cache that this has filled", toolsVariable)
	}
	if _, err := os.Stat(program(dir, "venv", "serena")); err != nil {
		t.Fatalf("no Serena in %s=%s (%v): run ./build.sh test, which installs it", toolsVariable, dir, err)
	}
	return dir
}

// program is the path of a program of a virtual environment in tools.
func program(tools, venv, name string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(tools, venv, "Scripts", name+".exe")
	}
	return filepath.Join(tools, venv, "bin", name)
}

// Options say how to start a server. The zero value is a server over stdio
// without a project.
type Options struct {
	Version string   // of Serena: Version (also when empty), Version17 or Version15
	Project string   // directory; "" = no project
	Context string   // default "ide" with a project, "desktop-app" without
	HTTP    bool     // streamable HTTP on a free port instead of stdio
	UVX     bool     // started through uvx --python 3.11 --from serena-agent==Version
	Args    []string // more arguments of start-mcp-server, which win over the defaults
	Home    string   // the server's home directory, with .serena in it; default a fresh one
	Client  []string // a program in front, with its arguments: it gets the server's command line appended and has to run it
	Env     []string // more environment, KEY=VALUE

	// Command is the whole command line of another MCP server over stdio, such
	// as Filesystem, Memory or Time, which is started instead of Serena. Of the
	// fields above, only Home, Client, Env and Project (where it runs) apply.
	Command []string
	// Embeds says that Command runs Serena as a library, which takes a port for its
	// dashboard as Serena does.
	Embeds bool
}

// Server is one started server with everything below it. Its methods are for
// the goroutine of the test, because they end the test when they fail.
type Server struct {
	Cmd    *exec.Cmd
	PID    int            // of the process started: the client or uvx, if there is one
	Home   string         // as in Options
	Stdin  io.WriteCloser // nil with HTTP
	Stdout io.ReadCloser  // nil with HTTP; Initialize reads it from then on

	// Known after WaitReady; with Options.Command only ServerPID, after Initialize.
	ServerPID     int    // of the server itself, below client and launchers
	DashboardPort int    // on 127.0.0.1
	MCPURL        string // only with HTTP

	http    bool
	other   bool   // not Serena
	turns   bool   // it takes a port for a dashboard, see startInTurn
	mark    string // in the environment of every process of the tree
	stderr  string // file
	done    chan struct{}
	session *mcp.ClientSession
	hangUp  func()
}

// Done is closed when the process with PID has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Start starts a server. When the test ends, so does everything that was
// started here, whatever state it is in; if the test has failed, its stderr is
// logged.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	tools := Tools(t)
	if o.UVX && o.Version != "" && o.Version != Version {
		t.Fatalf("the cache of uvx holds Serena %s only", Version)
	}
	home := o.Home
	if home == "" {
		home = t.TempDir()
	}
	if err := initialise(home); err != nil {
		t.Fatalf("preparing Serena's home: %v", err)
	}
	s := &Server{
		Home:   home,
		http:   o.HTTP && o.Command == nil,
		other:  o.Command != nil,
		turns:  o.Command == nil || o.Embeds,
		mark:   rand.Text(),
		stderr: filepath.Join(t.TempDir(), "stderr"),
		done:   make(chan struct{}),
		hangUp: func() {},
	}
	command := o.command(tools)
	s.Cmd = exec.Command(command[0], command[1:]...)
	s.Cmd.Dir = home
	if o.Project != "" {
		s.Cmd.Dir = o.Project
	}
	s.Cmd.Env = append(environment(os.Environ(), tools, home, s.other), markName+"="+s.mark)
	s.Cmd.Env = append(s.Cmd.Env, o.Env...)
	if err := s.startInTurn(); err != nil {
		t.Fatalf("starting %q: %v", command, err)
	}
	s.PID = s.Cmd.Process.Pid
	t.Cleanup(func() { s.end(t) })
	return s
}

// command is the whole command line.
func (o Options) command(tools string) []string {
	command := slices.Clone(o.Client)
	if o.Command != nil {
		return append(command, o.Command...)
	}
	venv, older := "venv", false
	if o.Version != "" && o.Version != Version {
		venv, older = "venv-"+o.Version, true
	}
	if o.UVX {
		command = append(command, program(tools, venv, "uvx"), "--python", "3.11", "--from", "serena-agent=="+Version, "serena")
	} else {
		command = append(command, program(tools, venv, "serena"))
	}
	command = append(command, "start-mcp-server")
	context := "desktop-app"
	if o.Project != "" {
		command = append(command, "--project", o.Project)
		context = "ide"
	}
	if o.Context != "" {
		context = o.Context
	}
	command = append(command, "--context", context, "--open-web-dashboard", "false")
	if !older {
		command = append(command, "--agent-interface", "tools")
	}
	if o.HTTP {
		command = append(command, "--transport", "streamable-http", "--port", "0")
	}
	return append(command, o.Args...)
}

// start runs the command with its stdin and stdout on pipes (not over HTTP)
// that are ours to close, and its stderr in a file.
func (s *Server) start() error {
	stderr, err := os.Create(s.stderr)
	if err != nil {
		return err
	}
	defer stderr.Close()
	s.Cmd.Stderr = stderr
	if s.http {
		s.Cmd.Stdout = stderr
	} else {
		in, toServer, err := os.Pipe()
		if err != nil {
			return err
		}
		defer in.Close()
		fromServer, out, err := os.Pipe()
		if err != nil {
			return errors.Join(err, toServer.Close())
		}
		defer out.Close()
		s.Cmd.Stdin, s.Cmd.Stdout = in, out
		s.Stdin, s.Stdout = toServer, fromServer
	}
	if err := s.Cmd.Start(); err != nil {
		s.closePipes()
		return err
	}
	go func() {
		_ = s.Cmd.Wait() // the status is in Cmd.ProcessState
		close(s.done)
	}()
	return nil
}

// end kills the whole tree, suspended or not, and waits until it is gone.
func (s *Server) end(t testing.TB) {
	t.Helper()
	if err := s.kill(); err != nil {
		t.Errorf("ending the server with pid %d: %v", s.PID, err)
	}
	<-s.done
	s.hangUp()
	s.closePipes()
	if t.Failed() {
		t.Logf("stderr of the server with pid %d:\n%s", s.PID, tail(s.stderr, 4<<10))
	}
}

func (s *Server) closePipes() {
	if !s.http {
		_ = s.Stdin.Close() // the test may have done so
		_ = s.Stdout.Close()
	}
}

// tail returns the last n bytes of a file.
func tail(path string, n int) []byte {
	all, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	return all[max(len(all)-n, 0):]
}
