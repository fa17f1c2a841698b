package launch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lamplighter/app/project"
	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
)

// serenaSettings is the file that Serena makes in its directory when it starts for
// the first time.
const serenaSettings = "serena_config.yml"

// Launch starts a server and waits until it accepts MCP. On any failure nothing
// of it is left running when Launch returns, and the error is a *StartError;
// ending ctx is one. What waits for its turn does so in the order of the calls,
// and the time for that does not count against the limit.
func (l *Launcher) Launch(ctx context.Context, spec Spec) (*Server, error) {
	s := &start{l: l, spec: spec, id: uuid.NewString()}
	server, err := s.run(ctx)
	if err == nil {
		return server, nil
	}
	failed := &StartError{Server: spec.Template.Name, Chosen: s.chosen, Why: monitor.Clean(err.Error()), Stderr: s.printed, Tried: s.tried, Err: err}
	var none *NotFoundError
	if errors.As(err, &none) {
		failed.Why, failed.Tried = "no command was found that starts it", none.Tried
	}
	if errors.Is(err, context.Canceled) && !errors.Is(err, ErrSurvived) {
		failed.Why = "nobody waits for it any more, so its start was given up"
		l.o.Log.Info("a server is not wanted any more", "server", spec.Template.Name, "project", spec.Project)
		return nil, failed
	}
	l.o.Log.Warn("a server was not started", "error", failed, "project", spec.Project)
	return nil, failed
}

// start is one call of Launch.
type start struct {
	l       *Launcher
	spec    Spec
	id      string
	tried   []Verdict // the commands that would not do
	chosen  Candidate // the command that is run
	printed []string  // the last lines of what it printed
}

func (s *start) run(ctx context.Context) (*Server, error) {
	if err := s.spec.check(); err != nil {
		return nil, err
	}
	s.l.reopen(ctx)
	ctx, done, err := s.l.begin(ctx, s.id)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := s.projectIsThere(ctx); err != nil {
		return nil, err
	}
	t := &s.spec.Template
	resolved, err := s.l.finder.Resolve(ctx, Wanted{Command: t.Command, Project: s.spec.Project, Serena: t.isSerena()})
	if err != nil {
		return nil, err
	}
	if t.Literal && !slices.Equal(resolved.Chosen.Command, t.Command) {
		return nil, &NotFoundError{Wanted: Wanted{Command: t.Command, Project: s.spec.Project}, Tried: resolved.Tried}
	}
	s.tried, s.chosen = resolved.Tried, resolved.Chosen.Candidate
	if t.Command != nil && len(s.tried) > 0 {
		s.l.o.Log.Warn("the command of the settings does not work, so another one is used", "server", t.Name,
			"settings", monitor.Quoted(t.Command), "used", monitor.Quoted(s.chosen.Command), "why", s.tried[0].Detail)
	}
	leave, err := s.turn(ctx, resolved.Chosen.Version)
	if err != nil {
		return nil, err
	}
	defer leave()
	server, err := s.try(ctx, resolved.Chosen)
	if errors.Is(err, errPortTaken) {
		server, err = s.try(ctx, resolved.Chosen)
	}
	return server, err
}

// projectIsThere refuses to start a server for all clients whose project directory
// is not there: Serena would come up without a project, and serve nobody even when
// the directory is back.
func (s *start) projectIsThere(ctx context.Context) error {
	if s.spec.Lifetime != Shared || s.spec.Project == "" {
		return nil
	}
	there, err := project.Look(ctx, &s.l.looks, "directory", s.spec.Project, isDirectory)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && !there: // a disk that takes its time is no reason
		return fmt.Errorf("%w: there is no directory %s; bring it back and ask again, which starts the server",
			ErrNoProject, monitor.Clean(s.spec.Project))
	}
	return nil
}

// projectIsActive looks, once MCP is accepted, whether a Serena for all clients has
// logged that it could not open its project: it goes on without one, and then
// serves nobody. Its dashboard would say so as well, but may answer much later
// than MCP, or be switched off.
func (s *start) projectIsActive(dir string) error {
	if s.spec.Lifetime != Shared || !s.spec.Template.isSerena() || !strings.Contains(loggedErrors(logTail(filepath.Join(dir, outputFile))), projectFailed) {
		return nil
	}
	return fmt.Errorf("%w: it could not open %s, and would have served nobody; see that the directory and its .serena/project.yml can be read and written, and ask again, which starts the server",
		ErrNoProject, monitor.Clean(s.spec.Project))
}

// projectFailed is how Serena, from 1.5.3 to 2.1.0, logs that it starts without the
// project that it was given.
const projectFailed = "Error activating project"

// turn waits until the server may start. Serenas start one at a time while
// their directory has no settings yet, and up to 1.7 always, because they race for
// that file; and on a project of which none has made its settings, because one
// that reads them half written has no language server.
func (s *start) turn(ctx context.Context, version string) (leave func(), err error) {
	var entered []func()
	leave = func() {
		for _, out := range slices.Backward(entered) {
			out()
		}
	}
	if s.spec.Template.isSerena() {
		project, done := s.l.turns.of(s.spec.Project)
		entered = append(entered, done)
		// In this order for everybody, so that nobody waits for each other.
		for _, gate := range []struct {
			places chan struct{}
			needed func() bool
		}{
			{project, func() bool { return s.isNewProject(ctx) }},
			{s.l.turns.alone, func() bool { return s.racing(version) }},
		} {
			out, err := enterWhile(ctx, gate.places, gate.needed)
			if err != nil {
				leave()
				return nil, err
			}
			entered = append(entered, out)
		}
	}
	slot, err := enter(ctx, s.l.turns.slots)
	if err != nil {
		leave()
		return nil, err
	}
	entered = append(entered, slot)
	return leave, nil
}

// isNewProject reports whether Serena has made no settings for the project yet.
func (s *start) isNewProject(ctx context.Context) bool {
	if s.spec.Project == "" {
		return false
	}
	file := filepath.Join(s.spec.Project, ".serena", "project.yml")
	missing, err := project.Look(ctx, &s.l.looks, "settings of a project", file, func(path string) bool {
		_, err := os.Stat(path)
		return errors.Is(err, os.ErrNotExist)
	})
	return err == nil && missing
}

func (s *start) racing(version string) bool {
	if older(version, "1.8") {
		return true
	}
	if s.l.o.SerenaHome == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(s.l.o.SerenaHome, serenaSettings))
	return errors.Is(err, os.ErrNotExist)
}

// errPortTaken says that somebody else has the port that a server was given.
var errPortTaken = errors.New("another program took the port that it was given")

// try starts the server once.
func (s *start) try(ctx context.Context, chosen Verdict) (*Server, error) {
	t := &s.spec.Template
	dir := s.l.dirOf(s.id)
	v := values{project: s.spec.Project, portFile: filepath.Join(dir, portFile), literal: t.Literal}
	if t.uses(portMark) {
		port, err := s.l.freePort()
		if err != nil {
			return nil, fmt.Errorf("no free port was to be had: %w", err)
		}
		v.port = port
	}
	order, err := s.order(ctx, chosen, v, dir)
	if err != nil {
		return nil, err
	}
	r := record{
		Version: recordVersion, ID: s.id, Lifetime: s.spec.Lifetime, BootID: s.l.bootID,
		Path: t.path(), Project: s.spec.Project, Name: t.Name, Kind: t.Name, Command: order.command,
		Key: s.spec.Key, StartedAt: time.Now(),
	}
	if err := s.l.holdLock(ctx); err != nil {
		return nil, err
	}
	if err := s.l.newDirectory(dir, &r); err != nil {
		return nil, err
	}
	keeper, err := order.start()
	if err != nil {
		err = fmt.Errorf("its keeper could not be started: %w", err)
		// It may have started the server before it was given up. What is left
		// keeps its record, for the next run.
		if left := newBroom(s.id, order.browsers).sweep(s.l.hurry); left != nil {
			return nil, fmt.Errorf("%w; and %w", err, left)
		}
		return nil, errors.Join(err, s.l.forget(s.id))
	}
	server, err := s.ready(ctx, keeper, r, v, dir)
	if err == nil {
		return server, nil
	}
	return nil, s.undo(keeper, v, dir, err)
}

// order is what the keeper is told.
func (s *start) order(ctx context.Context, chosen Verdict, v values, dir string) (keep, error) {
	t := &s.spec.Template
	program, err := keeperProgram(s.l.o.Program)
	if err != nil {
		return keep{}, err
	}
	if len(chosen.Command) == 0 || !filepath.IsAbs(chosen.Command[0]) {
		return keep{}, fmt.Errorf("the command %.200q has no absolute path", chosen.Command)
	}
	home, _ := os.UserHomeDir() // neutralDir has other places, too
	workDir := neutralDir(home, s.l.o.StateDir)
	if t.Directory != "" {
		workDir = v.fill(t.Directory)
	}
	if usable, err := project.Look(ctx, &s.l.looks, "directory", workDir, isDirectory); err != nil || !usable {
		if err := ctx.Err(); err != nil {
			return keep{}, context.Cause(ctx)
		}
		return keep{}, fmt.Errorf("the directory %s, where it is to run, cannot be used; name another one in its template", monitor.Clean(workDir))
	}
	set := slices.Concat(chosen.Env, templateEnv(t, v), []string{launchMark + "=" + s.id})
	return keep{
		program: program, look: s.l.look, lifetime: s.spec.Lifetime, linger: s.l.o.Limits.Linger, dir: dir, alive: s.l.alive.path, workDir: workDir,
		browsers: command.SparesBrowsers(t.Name),
		command:  slices.Concat(chosen.Command[:1], v.fillAll(chosen.Command[1:]), serverArgs(t, chosen.Command, chosen.Version, v)),
		env:      t.unset(s.l.finder.Environment(ctx, set...)),
	}, nil
}

// newDirectory makes the directory of a launch, with its record.
func (l *Launcher) newDirectory(dir string, r *record) error {
	err := os.MkdirAll(l.serversDir(), 0o700)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = writeRecord(dir, r)
	}
	if err != nil {
		err = fmt.Errorf("its record cannot be written, so it is not started: %w", err)
		return errors.Join(err, os.RemoveAll(dir))
	}
	return nil
}

// ready waits until the server accepts MCP, writes that down and takes it into
// the list.
func (s *start) ready(ctx context.Context, k *keeper, r record, v values, dir string) (*Server, error) {
	r.Keeper = k.id.String()
	if err := writeRecord(dir, &r); err != nil {
		return nil, fmt.Errorf("its record cannot be written: %w", err)
	}
	limit := s.spec.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(limit, func() { cancel(fmt.Errorf("it did not accept MCP within %s", monitor.Span(limit))) })
	defer late.Stop()
	select {
	case <-k.started:
	case <-k.gone:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	heard := k.news()
	switch {
	case heard.failed != "":
		return nil, fmt.Errorf("it could not be run: %s", heard.failed)
	case heard.child.PID == 0:
		return nil, endedEarly(heard, dir)
	}
	late.Reset(max(limit-time.Since(heard.at), time.Millisecond)) // the time of the keeper is not the server's
	r.StartedAt = heard.at

	t := &s.spec.Template
	search := &search{
		keeper: k, transport: t.transport(), path: t.path(), port: v.port, serena: t.isSerena(),
		look: looker(k.id), ask: s.l.ask, beat: s.l.dashboard.Heartbeat,
	}
	if t.uses(portFileMark) {
		search.portFile = v.portFile
	}
	at, err := search.find(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.projectIsActive(dir); err != nil {
		return nil, err
	}
	r.Server, r.Port, r.DashboardPort = at.server.String(), at.port, at.dashboard
	if s.spec.AskedBy != nil {
		r.AskedBy = askerOf(s.spec.AskedBy())
	}
	// The keeper spares what people work in, and must not take the server for
	// that, whatever it is called.
	err = statefile.Replace(filepath.Join(dir, serverFile), []byte(r.Server+"\n"))
	if err == nil {
		err = writeRecord(dir, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("its record cannot be written: %w", err)
	}
	server := s.l.newServer(r, k, false)
	if err := s.l.take(server); err != nil {
		return nil, err
	}
	return server, nil
}

// undo ends what was started, and adds to the reason what the keeper has said.
func (s *start) undo(k *keeper, v values, dir string, why error) error {
	byItself := k.isGone()
	left := s.l.endTree(target{id: s.id, kind: s.spec.Template.Name, keeper: k})
	heard := k.news()
	output := heard.output
	if output == "" {
		output = logTail(filepath.Join(dir, outputFile))
	}
	if errors.Is(why, ErrNoProject) {
		output = loggedErrors(output) // the rest is about how it was ended
	}
	s.printed = printedLines(output)
	if byItself && heard.exited != "" {
		why = fmt.Errorf("it %s before it accepted MCP", heard.exited)
	}
	if byItself && v.port != 0 && !isFree(v.port) {
		why = errPortTaken
	}
	if left != nil {
		return fmt.Errorf("%w; and %w", why, left) // its record stays, for the next try
	}
	if err := s.l.forget(s.id); err != nil {
		s.l.o.Log.Warn("what a server has left on disk cannot be removed", "error", err)
	}
	return why
}

// The ports that servers are given. No system hands out one of these by itself, so
// that until the server listens, which may take seconds, neither a connection nor
// the server's own other listeners get it.
const (
	firstPort = 20000
	lastPort  = 23999
)

// freePort chooses a port that nobody has now.
func freePort() (port int, err error) {
	for range 100 {
		port = firstPort + rand.IntN(lastPort-firstPort+1)
		var listener net.Listener
		if listener, err = net.Listen("tcp4", address(port)); err == nil {
			listener.Close()
			return port, nil
		}
	}
	return 0, err
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp4", address(port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

// newServer makes a server of its record. It is not in the list yet.
func (l *Launcher) newServer(r record, k *keeper, adopted bool) *Server {
	return &Server{
		rec: r, ids: r.identities(), url: "http://" + address(r.Port) + r.Path, dir: l.dirOf(r.ID),
		adopted: adopted, keeper: k, finish: l.finish,
		exited: make(chan struct{}), done: make(chan struct{}),
	}
}

// take puts a server into the list, tells of it and sees to its end.
func (l *Launcher) take(s *Server) error {
	l.mu.Lock()
	if err := l.refused; err != nil {
		l.mu.Unlock()
		return err
	}
	// Before it is watched: the end of what is not in the list is told to nobody.
	l.servers[s.rec.ID] = s
	l.busy.Add(1)
	l.mu.Unlock()
	if err := l.exits.Watch(s.ids.server); errors.Is(err, process.ErrGone) {
		s.exit()
	}
	l.o.Tell(s.launch())
	go l.supervise(s)
	return nil
}
