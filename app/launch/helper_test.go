package launch

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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
)

// act is one of the programs that tests start.
func act(what string, args []string) int {
	switch what {
	case "serve":
		return actServe(args)
	case "background":
		return actBackground(args)
	}
	fmt.Fprintln(os.Stderr, "there is no program", what)
	return 2
}

// actServe is an MCP server with all the habits that its flags name.
func actServe(args []string) int {
	f := flag.NewFlagSet("serve", flag.ExitOnError)
	port := f.Int("port", 0, "")
	host := f.String("host", "127.0.0.1", "")
	portFile := f.String("port-file", "", "")
	sse := f.Bool("sse", false, "the older transport")
	events := f.Bool("events", false, "answers as events")
	dashboard := f.Bool("dashboard", false, "has one, on a port that it opens first")
	needs := f.String("needs", "", "a directory without which it logs that no project is active")
	other := f.Bool("other", false, "opens another port first, which never answers")
	late := f.Duration("late", 0, "before it listens")
	fork := f.Bool("fork", false, "serves in a child and ends itself")
	ignore := f.Bool("ignore", false, "SIGTERM")
	flood := f.Int("flood", 0, "bytes to standard error first")
	silent := f.Bool("silent", false, "never listens")
	status := f.Int("exit", -1, "ends at once")
	die := f.Bool("die", false, "ends when it has answered")
	child := f.Bool("child", false, "starts one that ignores SIGTERM and has its output")
	says := f.String("print", "", "to standard error")
	run := f.String("run", "", "a program that it starts first")
	wrap := f.Bool("wrap", false, "runs a server and waits for it")
	_ = f.Parse(args)

	if *ignore {
		signal.Ignore(syscall.SIGTERM)
	}
	if *says != "" {
		fmt.Fprintln(os.Stderr, *says)
	}
	if *status >= 0 {
		return *status
	}
	for line := strings.Repeat("noise ", 1000) + "\n"; *flood > 0; *flood -= len(line) {
		fmt.Fprint(os.Stderr, line)
	}
	if *child {
		mustStart(exec.Command(os.Args[0], helperArg, "serve", "--silent", "--ignore"))
	}
	if *run != "" {
		mustStart(exec.Command(*run))
	}
	if *fork || *wrap {
		var rest []string
		for _, arg := range args {
			if arg != "--fork" && arg != "--wrap" {
				rest = append(rest, arg)
			}
		}
		cmd := exec.Command(os.Args[0], append([]string{helperArg, "serve"}, rest...)...)
		mustStart(cmd)
		if *wrap {
			_ = cmd.Wait()
		}
		return 0
	}
	for *silent {
		time.Sleep(time.Hour)
	}
	if *other {
		listen(0)
	}
	if *dashboard {
		routes := http.NewServeMux()
		routes.HandleFunc("GET /heartbeat", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"alive"}`) })
		go http.Serve(listen(0), routes)
	}
	if *needs != "" && !isDirectory(*needs) {
		fmt.Fprint(os.Stderr, "INFO noise\nERROR "+projectFailed+"\nINFO noise\n")
	}
	time.Sleep(*late)
	l := listenOn(*host, *port)
	if *portFile != "" {
		if err := os.WriteFile(*portFile, []byte(strconv.Itoa(l.Addr().(*net.TCPAddr).Port)+"\n"), 0o600); err != nil {
			panic(err)
		}
	}
	s := &mcpServer{events: *events, die: *die, streams: map[string]chan string{}}
	handler := s.http
	if *sse {
		handler = s.sse
	}
	_ = http.Serve(l, http.HandlerFunc(handler))
	return 1
}

func mustStart(cmd *exec.Cmd) {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func listen(port int) net.Listener { return listenOn("127.0.0.1", port) }

func listenOn(host string, port int) net.Listener {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return l
}

// consent is the answer to initialize.
const consent = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}`

// mcpServer knows initialize and nothing else.
type mcpServer struct {
	events, die bool

	mu      sync.Mutex
	streams map[string]chan string
}

func (s *mcpServer) http(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
	case r.Method == http.MethodDelete:
		if s.die {
			os.Exit(3)
		}
	case r.Method != http.MethodPost || !strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		w.WriteHeader(http.StatusNotAcceptable)
	case s.events:
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Mcp-Session-Id", "1")
		fmt.Fprint(w, ": hello\r\n\r\nevent: message\r\ndata: "+consent+"\r\n\r\n")
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "1")
		fmt.Fprint(w, consent)
	}
}

func (s *mcpServer) sse(w http.ResponseWriter, r *http.Request) {
	session := r.URL.Query().Get("session")
	switch {
	case r.URL.Path == "/sse":
		session = strconv.FormatInt(time.Now().UnixNano(), 10)
		stream := make(chan string, 1)
		s.mu.Lock()
		s.streams[session] = stream
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /messages?session="+session+"\n\n")
		w.(http.Flusher).Flush()
		select {
		case message := <-stream:
			fmt.Fprint(w, "data: "+message+"\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case <-r.Context().Done():
		}
	case r.URL.Path == "/messages" && r.Method == http.MethodPost:
		s.mu.Lock()
		stream := s.streams[session]
		s.mu.Unlock()
		stream <- consent
		w.WriteHeader(http.StatusAccepted)
	default:
		http.NotFound(w, r)
	}
}

// builtKeeper is the keeper's program, built for the tests.
var builtKeeper struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// keeperPath returns the real keeper: for Windows it was built before, see
// build/wine.sh, elsewhere it is built now.
func keeperPath(t testing.TB) string {
	t.Helper()
	b := &builtKeeper
	b.once.Do(func() {
		if runtime.GOOS == "windows" {
			b.path = filepath.Join(os.Getenv("LAMPLIGHTER_TEST_PROGRAMS"), keeperName)
			_, b.err = os.Stat(b.path)
			return
		}
		if b.dir, b.err = os.MkdirTemp("", "keeper"); b.err != nil {
			return
		}
		b.path = filepath.Join(b.dir, keeperName)
		out, err := exec.Command("go", "build", "-buildvcs=false", "-o", b.path, "lamplighter/app/connect").CombinedOutput()
		if err != nil {
			b.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if b.err != nil {
		t.Fatalf("the keeper was not built: %v", b.err)
	}
	return b.path
}

// given is a finder that takes every command as it is.
type given struct{ version string }

func (g given) Resolve(_ context.Context, w Wanted) (Resolution, error) {
	return Resolution{Chosen: Verdict{Candidate: Candidate{Command: w.Command, Source: "the test"}, OK: true, Version: g.version}}, nil
}

func (g given) Environment(_ context.Context, extra ...string) []string {
	return append(os.Environ(), extra...)
}

// serving returns a template of the helper's server.
func serving(args ...string) Template {
	return Template{Name: "helper", Command: append([]string{os.Args[0], helperArg, "serve"}, args...)}
}

// order is an order to launch that server for one session.
func order(args ...string) Spec {
	return Spec{
		Template: serving(args...), Project: absolutePath, Lifetime: Session, Key: "key",
		Limit: time.Minute, // for machines that are slow
		AskedBy: func() monitor.Client {
			return monitor.Client{Identity: monitor.Identity{PID: os.Getpid()}, Name: "the test"}
		},
	}
}

// adopted are the servers that an earlier run of the program has started.
func (l *Launcher) adopted() []*Server {
	return slices.DeleteFunc(l.Servers(), func(s *Server) bool { return !s.adopted })
}
