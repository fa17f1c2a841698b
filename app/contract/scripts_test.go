//go:build contract && linux

package contract

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"lamplighter/app/apptest"
)

// scene is the world of one script, of which $WORK is the home.
type scene struct {
	*world
	stage
	processes map[string]*process
}

// Each script has a world of its own, with the settings in its file of that name. The
// steps are those of testscript and those below.
func TestScripts(t *testing.T) { runScripts(t, "testdata/scripts") }

// Policies end what is not in their world as well.
func TestPolicies(t *testing.T) { runScripts(t, "testdata/alone") }

func runScripts(t *testing.T, dir string) {
	t.Helper()
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for name, step := range steps {
		commands[name] = func(ts *testscript.TestScript, negated bool, args []string) {
			step(ts.Value("scene").(*scene), ts, !negated, args)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, WorkdirRoot: filepath.Dir(self), Cmds: commands, Setup: setScene,
		Condition: func(name string) (bool, error) {
			if name != "one-user" {
				return false, fmt.Errorf("there is no condition %s", name)
			}
			return onlyOneUser(), nil
		},
	})
}

// setScene makes the world of a script, and the variables that it begins with.
func setScene(env *testscript.Env) error {
	s := &scene{stage: stage{fail: env.T().Fatal, cleanup: env.Defer}, processes: map[string]*process{}}
	s.world = newWorld(s, env.WorkDir, apptest.FreePort(s), apptest.FreePort(s), read(filepath.Join(env.WorkDir, "settings")))
	for name, value := range map[string]any{
		"lamplighter": lamplighter()[0],
		"connect":     connect()[0],
		"greeting":    greeting,
		"settings":    s.settings(),
		"state":       s.state(),
		"page":        s.page,
		"sessions":    s.sessions,
		"free":        apptest.FreePort(s), // a port for a server of the script's
		"test":        os.Getpid(),
		"alpha":       alpha.pid(),
	} {
		s.env = append(s.env, fmt.Sprintf("%s=%v", name, value))
	}
	env.Values["scene"] = s
	env.Vars = append(env.Vars, s.env...)
	return nil
}

// line is a command line in which http:NAME and stdio:NAME stand for those of a Serena
// on the project of that name, and http: for one without a project.
func (s *scene) line(words []string) (line []string) {
	for _, word := range words {
		kind, name, _ := strings.Cut(word, ":")
		project := ""
		if name != "" {
			project = s.path("projects", name)
		}
		switch kind {
		case "http":
			line = append(line, s.httpServer(project)...)
		case "stdio":
			line = append(line, s.stdioServer(project)...)
		default:
			line = append(line, word)
		}
	}
	return line
}

// pids are those in the arguments of a step.
func (s *scene) pids(args []string) (pids []int) {
	for _, text := range strings.Fields(strings.Join(args, " ")) {
		pids = append(pids, number(s, text))
	}
	return pids
}

// steps are what a script can do besides. What a step gives, stdout and cmp read as its
// standard output.
var steps = map[string]func(s *scene, ts *testscript.TestScript, want bool, args []string){
	// set NAME=VALUE sets a variable, also for the background process.
	"set": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		name, value, _ := strings.Cut(args[0], "=")
		ts.Setenv(name, value)
		s.env = append(s.env, args[0])
	},
	// does STATUS PROGRAM [ARGUMENT…] runs a program, whose exit status is this.
	"does": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		line, status := s.line(args[1:]), 0
		err := ts.Exec(line[0], line[1:]...)
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			status, err = exit.ExitCode(), nil
		}
		must(s, err)
		same(s, "the exit status", status, number(s, args[0]))
	},
	// start NAME PROGRAM [ARGUMENT…] starts one, of which $NAME is the pid.
	"start": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		p := s.start(s, func(c *exec.Cmd) { c.Dir, c.Env = ts.MkAbs("."), s.env }, s.line(args[1:])...)
		s.processes[args[0]] = p
		ts.Setenv(args[0], strconv.Itoa(p.pid()))
	},
	// prints NAME TEXT waits until it has printed this.
	"prints": func(s *scene, _ *testscript.TestScript, _ bool, args []string) {
		p := s.processes[args[0]]
		apptest.Eventually(s, strings.Join(args, " prints "), func() bool { return strings.Contains(p.out.String()+p.err.String(), args[1]) })
	},
	// ends NAME STATUS waits until it ends, after its input has.
	"ends": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		p := s.processes[args[0]]
		p.in.Close()
		p.ends(s, number(s, args[1]))
		fmt.Fprint(ts.Stdout(), p.out)
		fmt.Fprint(ts.Stderr(), p.err)
	},
	// signal NAME PID sends a signal.
	"signal": func(s *scene, _ *testscript.TestScript, _ bool, args []string) {
		must(s, unix.Kill(number(s, args[1]), unix.SignalNum("SIG"+args[0])))
	},
	// alive PID… checks that all of these run.
	"alive": func(s *scene, _ *testscript.TestScript, want bool, args []string) {
		living(s, want, "now", s.pids(args)...)
	},
	// gone PID… waits until all of these have ended.
	"gone": func(s *scene, _ *testscript.TestScript, _ bool, args []string) { gone(s, s.pids(args)...) },
	// tree NAME PID COUNT puts a process and those below it, which are so many, into $NAME.
	"tree": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		tree := treeOf(number(s, args[1]))
		same(s, "so many processes are in the tree", len(tree), number(s, args[2]))
		ts.Setenv(args[0], strings.Trim(fmt.Sprint(tree), "[]"))
	},
	// only NAME PROJECT puts the pid of the one server of a project into $NAME.
	"only": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		ts.Setenv(args[0], strconv.Itoa(only(s, s.path("projects", args[1]))))
	},
	// unserved PROJECT checks that no process has to do with a project.
	"unserved": func(s *scene, _ *testscript.TestScript, _ bool, args []string) {
		// A keeper names it, and ends a moment after what it has kept.
		apptest.Eventually(s, "no process is there for "+args[0], func() bool { return len(processesOf(s.path("projects", args[0]))) == 0 })
	},
	// project NAME [HABIT…] makes one, in projects/NAME.
	"project": func(s *scene, _ *testscript.TestScript, _ bool, args []string) { s.project(s, args[0], args[1:]...) },
	// ready DOOR… waits until the background process is ready there.
	"ready": func(s *scene, _ *testscript.TestScript, _ bool, args []string) {
		for _, d := range args {
			s.ready(s, door(d))
		}
	},
	// is STATE MEMBER VALUE [NAME=MEMBER…] waits until the server with that member has this
	// state, puts other members of it into variables, and gives it.
	"is": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		in := s.is(s, args[0], args[1], args[2])
		for _, set := range args[3:] {
			name, member, _ := strings.Cut(set, "=")
			ts.Setenv(name, plain(in[member]))
		}
		fmt.Fprintln(ts.Stdout(), jsonOf(in))
	},
	// listed PID reports whether the one daemon lists it as a server.
	"listed": func(s *scene, _ *testscript.TestScript, want bool, args []string) {
		same(s, args[0]+" is listed", s.find("pid", args[0]) != nil, want)
	},
	// asks STATUS DOOR METHOD PATH [BODY] asks a route, and gives the answer, and its
	// headers as standard error. One of a failure has an error.
	"asks": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		a := s.ask(door(args[1]), args[2], args[3], strings.Join(args[4:], " "), nil)
		same(s, strings.Join(args[1:], " "), strconv.Itoa(a.status), args[0])
		if a.status >= http.StatusBadRequest {
			a.fails(s, a.status, args[3])
		}
		fmt.Fprintln(ts.Stdout(), string(a.body))
		must(s, a.header.Write(ts.Stderr()))
	},
	// until DOOR PATH PATTERN waits until the answer of a route is like this.
	"until": func(s *scene, _ *testscript.TestScript, _ bool, args []string) {
		apptest.Eventually(s, strings.Join(args, " "), func() bool {
			return regexp.MustCompile(args[2]).Match(s.ask(door(args[0]), http.MethodGet, args[1], "", nil).body)
		})
	},
	// session NAME PROJECT requests a session, and puts its id into $NAME.
	"session": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		ts.Setenv(args[0], strconv.Itoa(s.request(s, sessions, s.path("projects", args[1])).ID))
	},
	// appears FILE [TEXT] waits until there is a file, with this in it.
	"appears": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		apptest.Eventually(s, strings.Join(args, " has "), func() bool {
			_, err := os.Stat(ts.MkAbs(args[0]))
			return err == nil && strings.Contains(read(ts.MkAbs(args[0])), strings.Join(args[1:], " "))
		})
	},
	// mode MODE FILE… checks the modes of files, as ls writes them.
	"mode": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		for _, path := range args[1:] {
			info, err := os.Lstat(ts.MkAbs(path))
			must(s, err)
			same(s, path, strings.ToLower(info.Mode().String()), args[0])
		}
	},
	// greet NAME begins a session of MCP with a process.
	"greet": func(s *scene, _ *testscript.TestScript, _ bool, args []string) { s.processes[args[0]].greet(s) },
	// says NAME MESSAGE sends it a line.
	"says": func(s *scene, _ *testscript.TestScript, _ bool, args []string) { s.processes[args[0]].say(s, args[1]) },
	// hears NAME ID gives its answer with this id.
	"hears": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		fmt.Fprintln(ts.Stdout(), s.processes[args[0]].answer(s, args[1]))
	},
	// calls NAME ID TOOL [ARGUMENTS] calls a tool, and gives the answer.
	"calls": func(s *scene, ts *testscript.TestScript, _ bool, args []string) {
		fmt.Fprintln(ts.Stdout(), s.processes[args[0]].call(s, args[1], args[2], append(args[3:], "{}")[0]))
	},
	// wakes NAME ID PROJECT waits until a call is answered by a server with this project.
	"wakes": func(s *scene, _ *testscript.TestScript, _ bool, args []string) {
		s.processes[args[0]].wakes(s, s.path("projects", args[2]), args[1])
	},
}
