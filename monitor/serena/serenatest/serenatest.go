// Package serenatest starts real Serena servers, and other MCP servers beside
// them, for tests, talks to them as a client does and leaves nothing behind.
//
// Where only the answers of a server matter, Replay gives those that were recorded
// from each version, without starting one.
//
// Only tests import it. What the servers need (Serena itself, uvx, npx, a
// language server) is installed by ./build.sh test; nothing is downloaded from
// here. Servers can be started on Linux only.
package serenatest

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

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
	if _, err := os.Stat(filepath.Join(dir, "venv", "bin", "serena")); err != nil || !filepath.IsAbs(dir) {
		t.Fatalf("no Serena in %s=%q (%v): run ./build.sh test, or set it to the absolute path of the .cache that this has filled", toolsVariable, dir, err)
	}
	return dir
}

// Options say how to start a server. The zero value is a server over stdio
// without a project.
type Options struct {
	Version string   // of Serena: Version (also when empty), Version17 or Version15
	Project string   // directory; "" = no project
	Context string   // default "ide" with a project, "desktop-app" without
	HTTP    bool     // streamable HTTP on a free port instead of stdio
	UVX     bool     // started through uvx --python 3.11 --from serena-agent==Version, the only one in its cache
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
	PID    int           // of the process started: the client or uvx, if there is one
	Home   string        // as in Options
	Stdout io.ReadCloser // nil with HTTP; Initialize reads it from then on

	// Of a Serena whose dashboard answers; with Options.Command only ServerPID, after Initialize.
	ServerPID     int    // of the server itself, below client and launchers
	DashboardPort int    // on 127.0.0.1
	MCPURL        string // only with HTTP

	stdin   io.WriteCloser // nil with HTTP
	other   bool           // not Serena
	mark    string         // in the environment of every process of the tree
	stderr  string         // file
	done    chan struct{}  // closed when the process with PID has ended
	session *mcp.ClientSession
	hangUp  func()
}

// Start starts a server, and waits for the dashboard of a Serena. When the test ends,
// so does everything that was started here, whatever state it is in; if the test has
// failed, its stderr is logged.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	tools := Tools(t)
	home := o.Home
	if home == "" {
		home = t.TempDir()
	}
	s := &Server{
		Home:   home,
		other:  o.Command != nil,
		mark:   rand.Text(),
		stderr: filepath.Join(t.TempDir(), "stderr"),
		done:   make(chan struct{}),
		hangUp: func() {},
	}
	command := o.command(tools)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = cmp.Or(o.Project, home)
	cmd.Env = slices.Concat(environment(os.Environ(), tools, home, s.other), []string{markName + "=" + s.mark}, o.Env)
	if o.Command == nil || o.Embeds {
		turn.Lock()
		defer turn.Unlock()
	}
	if err := errors.Join(initialise(home), s.start(cmd, o.HTTP && !s.other)); err != nil {
		t.Fatalf("starting %q: %v", command, err)
	}
	t.Cleanup(func() { s.end(t) })
	if o.Command == nil || o.Embeds {
		poll(25*time.Millisecond, startBudget, s.done, func() bool { return s.look(t.Context()) }) // else it has none, or has ended
	}
	return s
}

// turn is held by the one Serena that may be looking for a port for its dashboard.
// It tries the ports from 24282 on and binds the first free one a moment later, so
// that of two that look at once one may be left without a dashboard.
var turn sync.Mutex

// command is the whole command line.
func (o Options) command(tools string) []string {
	command := slices.Clone(o.Client)
	if o.Command != nil {
		return append(command, o.Command...)
	}
	version := cmp.Or(o.Version, Version)
	venv := "venv"
	if version != Version {
		venv += "-" + version
	}
	programs := filepath.Join(tools, venv, "bin")
	if o.UVX {
		command = append(command, filepath.Join(programs, "uvx"), "--python", "3.11", "--from", "serena-agent=="+version, "serena")
	} else {
		command = append(command, filepath.Join(programs, "serena"))
	}
	command = append(command, "start-mcp-server")
	context := "desktop-app"
	if o.Project != "" {
		command = append(command, "--project", o.Project)
		context = "ide"
	}
	command = append(command, "--context", cmp.Or(o.Context, context), "--open-web-dashboard", "false")
	if version == Version {
		command = append(command, "--agent-interface", "tools")
	}
	if o.HTTP {
		command = append(command, "--transport", "streamable-http", "--port", "0")
	}
	return append(command, o.Args...)
}

// start runs the command with its stdin and stdout on pipes (not over HTTP)
// that are ours to close, and its stderr in a file.
func (s *Server) start(cmd *exec.Cmd, overHTTP bool) error {
	stderr, err := os.Create(s.stderr)
	if err != nil {
		return err
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	if overHTTP {
		cmd.Stdout = stderr
	} else {
		var failed error
		s.stdin, err = cmd.StdinPipe()
		s.Stdout, failed = cmd.StdoutPipe()
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.PID = cmd.Process.Pid
	go func() {
		_, _ = cmd.Process.Wait() // that of the command would close the pipes
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
	if s.stdin != nil {
		_ = errors.Join(s.stdin.Close(), s.Stdout.Close()) // the session may have done so
	}
	if t.Failed() {
		t.Logf("stderr of the server with pid %d:\n%s", s.PID, s.complaints())
	}
}

// complaints are the end of its stderr.
func (s *Server) complaints() []byte {
	all, err := os.ReadFile(s.stderr)
	if err != nil {
		return []byte(err.Error())
	}
	return all[max(len(all)-4<<10, 0):]
}
