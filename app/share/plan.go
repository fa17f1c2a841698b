package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"lamplighter/app/launch"
	"lamplighter/app/project"
	"lamplighter/monitor"
)

// Request is what a client would run.
type Request struct {
	Dir     string   // its working directory, absolute
	Command []string // as given
	Env     []string // NAME=VALUE; of a name that is there twice the last one counts

	// Moved says that the client has activated a project since, and which, by its path
	// or by its name in Serena's settings; "" is none.
	Moved   bool
	Project string
}

// Plan is how a client is served.
type Plan struct {
	// Alone says why it cannot be shared, as a part of a sentence: "Serena 1.4.2 is not
	// safe with several clients at once"; "" when it can. Then there is no key, and
	// of Spec at most the project is known.
	Alone string
	Key   string      // 32 hexadecimal digits: the beginning of a SHA-256
	Spec  launch.Spec // without a project when the client has none yet

	// Moves says that the client may activate another project, which gives it the server
	// of that one.
	Moves bool

	Context string
	Modes   []string
	Version string   // of Serena: "2.1.0"
	Facts   []string // what the key is made of, in words and without values of the environment, safe to show

	// Fingerprint tells apart what Serena answers to initialize and tools/list:
	// it is a hash of its settings, of the project's, of its contexts and modes,
	// and of the stamp of its program, as they are now. It takes at most lookTime; what cannot be read
	// in that time has another fingerprint each time. Nil with Alone.
	Fingerprint func() string
}

// InputError says that a wish makes no sense, in a sentence that is safe to show
// and says what to do.
type InputError struct{ Text string }

func (e *InputError) Error() string { return e.Text }

// Resolver finds the commands that start Serena; *launch.Finder is one.
type Resolver interface {
	Resolve(context.Context, launch.Wanted) (launch.Resolution, error)
}

// PlannerOptions are what a Planner needs, all of it.
type PlannerOptions struct {
	Finder Resolver
	// Environment returns what a server gets of our own environment, and extra over it.
	Environment func(ctx context.Context, extra ...string) []string
	// OthersLoggedIn returns the names of other users who are logged in: LoggedIn.
	OthersLoggedIn func() ([]string, error)
	// Allowed reports whether servers are shared although others are logged in.
	Allowed func() bool
	Log     *slog.Logger
}

// lookTime is how long a look at files may take. One on a network that has gone may
// never end; then its goroutine is lost.
const lookTime = 2 * time.Second

// Planner makes plans. It is safe for concurrent use.
type Planner struct {
	o     PlannerOptions
	home  string        // the user's own, where an environment has none
	looks project.Looks // at files

	resolving singleflight.Group // what version a command runs, by the key of resolved
	finding   sync.WaitGroup     // those that run
	lifetime  context.Context    // of the Planner, from NewPlanner to Close
	end       context.CancelFunc

	others others

	mu       sync.Mutex
	resolved map[string]resolved
}

// NewPlanner returns a Planner. It looks at nothing yet. Whoever has it closes it.
func NewPlanner(o PlannerOptions) *Planner {
	home, _ := os.UserHomeDir() // then a client without HOME has none either
	a := &Planner{o: o, home: home, looks: project.Looks{Limit: lookTime}, resolved: map[string]resolved{}}
	a.lifetime, a.end = context.WithCancel(context.Background())
	return a
}

// Close ends what was begun for clients that have given up since, and returns
// when that has gone. Nothing is found out any more.
func (a *Planner) Close() {
	a.mu.Lock()
	a.end()
	a.mu.Unlock()
	a.finding.Wait()
}

// Serve closes the Planner when ctx ends, whose error it returns.
func (a *Planner) Serve(ctx context.Context) error {
	<-ctx.Done()
	a.Close()
	return ctx.Err()
}

// wish is what a plan is made for.
type wish struct {
	Request
	program   []string // what starts the server, up to its subcommand
	args      arguments
	env       map[string]string
	ours      []string // of the environment that we would give it
	directory string   // where the server runs; "" is a neutral place
	version   string   // of Serena; "" when the Finder is to be asked
	fixed     bool     // the client cannot change its project
}

// Plan says how the client is served that would run what r says. The error is an
// *InputError when that makes no sense, which is the answer to its initialize,
// or that of ctx.
func (a *Planner) Plan(ctx context.Context, r Request) (Plan, error) {
	if err := r.check(); err != nil {
		return Plan{}, err
	}
	program, args, why := split(runtime.GOOS, r.Command)
	if why != "" {
		return Plan{Alone: why}, nil
	}
	parsed, why := parseArguments(args, r.Dir)
	if why != "" {
		return Plan{Alone: why, Context: parsed.context, Modes: parsed.modes}, nil
	}
	return a.plan(ctx, wish{Request: r, program: program, args: parsed, env: relevant(runtime.GOOS, r.Env), ours: a.o.Environment(ctx)})
}

func (a *Planner) plan(ctx context.Context, w wish) (Plan, error) {
	plan := Plan{Context: w.args.context, Modes: w.args.modes, Version: w.version}
	from, err := project.Look(ctx, &a.looks, hashed(fmt.Sprintf("%+v", w)), w.Dir, func(string) origin { return a.originOf(w) })
	if err != nil {
		return plan.silent(err)
	}
	plan.Spec.Project = from.project
	if plan.Alone = cmp.Or(from.alone, a.Forbids(ctx)); from.err != nil || plan.Alone != "" {
		return plan, from.err
	}
	if w.version == "" {
		found, err := a.resolve(ctx, slices.Concat([]string{from.program}, w.program[1:]), from)
		if err != nil {
			return plan, err
		}
		w.program, plan.Version, plan.Alone = found.command, found.version, found.alone
	}
	if plan.Alone = cmp.Or(plan.Alone, tooOld(plan.Version)); plan.Alone != "" {
		return plan, nil
	}
	plan.Moves = !w.fixed && (w.Moved || from.project == "" || !from.single)
	plan.Spec = launch.Spec{Project: from.project, Lifetime: launch.Shared, Template: launch.Template{
		Name: monitor.KindSerena, Command: w.program, Arguments: w.args.words(), Directory: w.directory,
		Env: w.env, Unset: surplus(runtime.GOOS, w.ours, w.env), Literal: true,
	}}
	k := keyOf(&plan, from)
	plan.Key, plan.Facts = k.sum(), k.facts
	plan.Spec.Key = plan.Key
	files := settingsOf(from.serenaHome, from.project, append(slices.Clip(plan.Modes), plan.Context))
	plan.Fingerprint = func() string { return a.fingerprint(from.program, files) }
	return plan, nil
}

// ForProject says how a client over HTTP is served that wants the project in
// dir: with the usual Serena of the settings, in a context in which it cannot
// change the project. The error is an *InputError when dir is no project, a
// *launch.NotFoundError when no Serena is found, or that of ctx.
func (a *Planner) ForProject(ctx context.Context, dir string, usual launch.Template) (Plan, error) {
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return Plan{}, notAbsolute(dir)
	}
	root, err := project.Look(ctx, &a.looks, "directory", dir, func(dir string) string { return directory(dir, "") })
	if err != nil {
		return Plan{}.silent(err)
	}
	if root == "" {
		return Plan{}, &InputError{fmt.Sprintf("there is no directory %s, or it cannot be read", monitor.Clean(dir))}
	}
	if filepath.Dir(root) == root || root == directory(a.home, "") {
		// Serena would make a project of it, in which all others lie.
		return Plan{}, &InputError{fmt.Sprintf("%s is no project, but the directory of all of them", monitor.Clean(root))}
	}
	return a.forUsual(ctx, Request{Dir: root, Moved: true, Project: root}, usual, true)
}

// ForAddress is ForProject for a client that names no project: it has none, or the one
// that it has activated since, by path or name, in the context of the settings. The
// settings must not have the project anywhere but behind --project.
func (a *Planner) ForAddress(ctx context.Context, project string, usual launch.Template) (Plan, error) {
	if strings.ContainsRune(project, 0) || project != "" && isPath(project) && !filepath.IsAbs(project) {
		return Plan{}, notAbsolute(project)
	}
	return a.forUsual(ctx, Request{Dir: a.home, Moved: true, Project: project}, usual, false)
}

func notAbsolute(project string) error {
	return &InputError{fmt.Sprintf("%q is not the absolute path of a project", monitor.Shorten(monitor.Clean(project), 200))}
}

// Root is the project of a client over HTTP whose roots are these, by their addresses:
// that of the only one that lies in a project; "" when there is none, or several do.
func (a *Planner) Root(ctx context.Context, addresses []string) string {
	only := ""
	for _, address := range addresses[:min(len(addresses), mostRoots)] {
		root, err := project.Look(ctx, &a.looks, "root", pathOf(runtime.GOOS, address), func(dir string) string {
			root, _ := rootAbove(dir)
			return root
		})
		if err != nil || root != "" && only != "" {
			return ""
		}
		only = cmp.Or(only, root)
	}
	return only
}

// mostRoots is how many of a client's roots are looked at.
const mostRoots = 100

// pathOf is the path that a file address names, "" when it is none of this machine.
func pathOf(goos, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if goos == "windows" { // file:///c:/work
		path = strings.TrimPrefix(path, "/")
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return ""
	}
	return path
}

// projectMark stands for the project in the settings.
const projectMark = "{project}"

// forUsual plans for a client over HTTP. With single the project of r is a directory, and
// cannot be changed.
func (a *Planner) forUsual(ctx context.Context, r Request, usual launch.Template, single bool) (Plan, error) {
	if usual.Name != monitor.KindSerena {
		return Plan{Alone: notSerena}, nil
	}
	fill := func(text string) string { return strings.ReplaceAll(text, projectMark, r.Project) }
	wanted := launch.Wanted{Project: r.Project, Serena: true}
	for _, word := range usual.Command {
		wanted.Command = append(wanted.Command, fill(word))
	}
	found, err := a.o.Finder.Resolve(ctx, wanted)
	if err != nil {
		return Plan{}, err
	}
	// What the command has behind the subcommand are arguments like the others.
	command, args := found.Chosen.Command, []string(nil)
	if i := slices.Index(command, subcommand); i > 0 {
		command, args = command[:i], command[i+1:]
	}
	for _, arg := range usual.Arguments {
		if single {
			arg = fill(arg)
		}
		args = append(slices.Clip(args), arg)
	}
	w := wish{Request: r, program: append(slices.Clip(command), subcommand), directory: fill(usual.Directory), version: found.Chosen.Version, fixed: single}
	w.ours = a.o.Environment(ctx, found.Chosen.Env...)
	w.env = relevant(runtime.GOOS, w.ours)
	for name, value := range usual.Env {
		w.env[envName(runtime.GOOS, name)] = fill(value)
	}
	why := ""
	if w.args, why = parseArguments(args, r.Dir); why != "" {
		return Plan{Alone: why}, nil
	}
	texts := slices.Concat(usual.Command, w.args.words(), slices.Collect(maps.Values(usual.Env)), []string{usual.Directory})
	marked := strings.Contains(strings.Join(texts, " "), projectMark)
	switch {
	case single && !slices.Contains(singleProject, w.args.context):
		w.args.context, w.args.named = "claude-code", true
	case marked && !single:
		return Plan{Alone: "the settings of lamplighter start Serena with {project}: name it in the address, /mcp?project=DIR"}, nil
	}
	return a.plan(ctx, w)
}

func (r *Request) check() error {
	switch {
	case len(r.Command) == 0 || r.Command[0] == "":
		return &InputError{"there is no command: write what starts the server behind --, such as: lamplighter-connect connect -- serena start-mcp-server --project-from-cwd --context claude-code"}
	case strings.ContainsRune(strings.Join(slices.Concat(r.Command, r.Env, []string{r.Dir}), " "), 0):
		return &InputError{"the command, the working directory or the environment holds a zero byte, which no program can be given"}
	case r.Dir == "":
		return &InputError{"the working directory cannot be told, as if it had been removed: start the client again in one that exists"}
	case !filepath.IsAbs(r.Dir):
		return &InputError{fmt.Sprintf("the working directory %q is not an absolute path", monitor.Shorten(monitor.Clean(r.Dir), 200))}
	}
	return nil
}

// oldest is the first Serena that is safe with several clients at once.
const oldest = "1.5.0"

func tooOld(version string) string {
	switch {
	case !launch.Readable(version):
		return "its version is not known"
	case launch.CompareVersions(version, oldest) < 0:
		return fmt.Sprintf("Serena %s is not safe with several clients at once, which %s is", version, oldest)
	}
	return ""
}

// silent turns files that do not answer into a reason. The error is that of a
// context.
func (p Plan) silent(err error) (Plan, error) {
	if errors.Is(err, project.ErrSilent) {
		p.Alone = fmt.Sprintf("the files that tell what can be shared did not answer within %s: a network or a mount may hang", monitor.Span(lookTime))
		err = nil
	}
	return p, err
}
