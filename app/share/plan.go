package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"lamplighter/monitor/process"
)

// Request is what a client would run.
type Request struct {
	Dir     string   // its working directory, absolute
	Command []string // as given
	Env     []string // NAME=VALUE; of a name that is there twice the last one counts

	// PID is the process that asks, whose paths may mean something else than here; 0 is not
	// known. Outside says that it is in no container that we can see into.
	PID     int
	Outside bool

	// Moved says that the client has activated a project since, and which, by its path
	// or by its name in Serena's settings; "" is none.
	Moved   bool
	Project string
}

// Plan is how a client is served.
type Plan struct {
	// Alone says why it cannot be shared, as a part of a sentence: "Serena 1.4.2 is not
	// safe with several clients at once"; "" when it can. Then there is nothing else.
	Alone string
	Key   string      // 32 hexadecimal digits: the beginning of a SHA-256
	Spec  launch.Spec // without a project when the client has none yet

	// Moves says that the client may activate another project, which gives it the server
	// of that one.
	Moves bool

	Context string
	Modes   []string
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

// alone is why a wish is not shared, which Plan tells as its Alone.
type alone string

func (why alone) Error() string { return string(why) }

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
}

// lookTime is how long a look at files may take. One on a network that has gone may
// never end; then its goroutine is lost.
const lookTime = 2 * time.Second

// Planner makes plans. It is safe for concurrent use.
type Planner struct {
	o     PlannerOptions
	home  string        // the user's own, where an environment has none
	looks project.Looks // at files

	lifetime  context.Context // from NewPlanner to Close
	end       context.CancelFunc
	resolving singleflight.Group // what a command runs
	running   sync.RWMutex       // read-locked by each that resolves
}

// NewPlanner returns a Planner. It looks at nothing yet. Whoever has it closes it.
func NewPlanner(o PlannerOptions) *Planner {
	home, _ := os.UserHomeDir() // then a client without HOME has none either
	a := &Planner{o: o, home: home, looks: project.Looks{Limit: lookTime}}
	a.lifetime, a.end = context.WithCancel(context.Background())
	return a
}

// Close ends what was begun for clients that have given up since, and returns
// when that has gone. Nothing is found out any more.
func (a *Planner) Close() {
	a.end()
	a.running.Lock()
	defer a.running.Unlock()
}

// Serve closes the Planner when ctx ends, whose error it returns.
func (a *Planner) Serve(ctx context.Context) error {
	<-ctx.Done()
	a.Close()
	return ctx.Err()
}

// wish is what a plan is made of: what the client wants, and what each step on the way
// has found out about it.
type wish struct {
	Request
	arguments

	program   []string          // what starts the server, up to its subcommand; once located its first word is absolute
	env       map[string]string // what the server gets of the client's
	unset     []string          // names of ours that it does not get
	directory string            // where the server runs; "" is a neutral place
	fixed     bool              // the client cannot change its project
	version   string            // of Serena; "" when the Finder is to be asked

	root             string // of the project, without symbolic links; "" when there is none
	single           bool   // it cannot be changed in the context
	home, serenaHome string
	tools            []foundTool // where the client's PATH finds what language servers use
	err              error       // why it was not located
}

// Plan says how the client is served that would run what r says. The error is an
// *InputError when that makes no sense, which is the answer to its initialize,
// or that of ctx.
func (a *Planner) Plan(ctx context.Context, r Request) (Plan, error) {
	if why := a.elsewhere(ctx, r, r.Dir); why != "" {
		return Plan{Alone: why}, nil
	}
	if err := r.check(); err != nil {
		return Plan{}, err
	}
	w := wish{Request: r}
	if err := w.read(runtime.GOOS); err != nil {
		return orAlone(Plan{}, err)
	}
	w.env = relevant(runtime.GOOS, r.Env)
	w.unset = surplus(runtime.GOOS, a.o.Environment(ctx), w.env)
	return orAlone(a.plan(ctx, w))
}

// orAlone is the one place where what stands against sharing becomes a plan.
func orAlone(plan Plan, err error) (Plan, error) {
	var why alone
	switch {
	case errors.As(err, &why):
		return Plan{Alone: string(why)}, nil
	case errors.Is(err, project.ErrSilent):
		return Plan{Alone: fmt.Sprintf("the files that tell what can be shared did not answer within %s: a network or a mount may hang", monitor.Span(lookTime))}, nil
	}
	return plan, err
}

// plan finishes a wish whose command was read.
func (a *Planner) plan(ctx context.Context, read wish) (Plan, error) {
	same := read
	same.PID = 0 // means nothing to the files
	w, err := project.Look(ctx, &a.looks, hashed(fmt.Sprintf("%+v", same)), read.Dir, func(string) wish {
		located := read // the look may outlast this call
		located.err = located.locate(a.home)
		return located
	})
	if err = cmp.Or(err, w.err); err != nil {
		return Plan{}, err
	}
	// The command can name another place than the one it is called in.
	if why := cmp.Or(a.elsewhere(ctx, read.Request, w.root), a.Forbids(ctx)); why != "" {
		return Plan{}, alone(why)
	}
	if err := a.findVersion(ctx, &w); err != nil {
		return Plan{}, err
	}
	plan := Plan{
		Moves:   !w.fixed && (w.Moved || w.root == "" || !w.single),
		Context: w.context, Modes: w.modes,
		Spec: launch.Spec{Project: w.root, Lifetime: launch.Shared, Template: launch.Template{
			Name: monitor.KindSerena, Command: w.program, Arguments: w.words(), Directory: w.directory,
			Env: w.env, Unset: w.unset, Literal: true,
		}},
		Fingerprint: func() string { return a.fingerprint(&w) },
	}
	plan.Key, plan.Facts = w.key()
	plan.Spec.Key = plan.Key
	return plan, nil
}

// elsewhere says why a path of who asks means nothing here, "" when it may mean what it
// means to it, or there is none: a socket can be passed into a container, where the
// project of that name is another one.
func (a *Planner) elsewhere(ctx context.Context, r Request, dir string) (why string) {
	switch {
	case r.Outside:
		return "it runs outside of the container that lamplighter is in"
	case r.PID == 0 || dir == "":
		return ""
	}
	another, err := project.Look(ctx, &a.looks, fmt.Sprint("as process ", r.PID), dir, func(dir string) bool {
		same, err := process.SharesPath(r.PID, dir)
		return err == nil && !same // of what may not be looked at nothing is known
	})
	if err != nil || !another { // a mount may hang
		return ""
	}
	return "it runs in a container or a sandbox, where " + monitor.Clean(monitor.Shorten(dir, 200)) + " is another directory than here"
}

// oldest is the first Serena that is safe with several clients at once.
const oldest = "1.5.0"

// findVersion asks what version the program is, unless that is known, and whether it can
// be shared.
func (a *Planner) findVersion(ctx context.Context, w *wish) error {
	if w.version == "" {
		found, err := a.resolve(ctx, launch.Wanted{Command: w.program, Project: w.root, Serena: true})
		var none *launch.NotFoundError
		if errors.As(err, &none) {
			found.Tried = none.Tried
		} else if err != nil {
			return err
		}
		isAsked := func(v launch.Verdict) bool { return slices.Equal(v.Command, w.program) }
		if !isAsked(found.Chosen) {
			why := "its version could not be found out"
			if i := slices.IndexFunc(found.Tried, isAsked); i >= 0 {
				why += ": " + strings.TrimSuffix(monitor.Shorten(monitor.Clean(found.Tried[i].Detail), 200), ".")
			}
			return alone(why)
		}
		w.version = found.Chosen.Version
	}
	switch {
	case !launch.Readable(w.version):
		return alone("its version is not known")
	case launch.CompareVersions(w.version, oldest) < 0:
		return alone(fmt.Sprintf("Serena %s is not safe with several clients at once, which %s is", w.version, oldest))
	}
	return nil
}

// resolve asks the Finder, until it has an answer or Close is called. Who asked may give
// up sooner, and ask again.
func (a *Planner) resolve(ctx context.Context, w launch.Wanted) (launch.Resolution, error) {
	asked := a.resolving.DoChan(monitor.Quoted(append([]string{w.Project}, w.Command...)), func() (any, error) {
		a.running.RLock()
		defer a.running.RUnlock()
		return a.o.Finder.Resolve(a.lifetime, w)
	})
	select {
	case result := <-asked:
		found, _ := result.Val.(launch.Resolution)
		return found, result.Err
	case <-ctx.Done():
		return launch.Resolution{}, ctx.Err()
	}
}

func (r *Request) check() error {
	switch {
	case len(r.Command) == 0 || r.Command[0] == "":
		return &InputError{"there is no command: write what starts the server behind --, such as: lamplighter-connect connect -- serena start-mcp-server --project-from-cwd --context claude-code"}
	case r.Dir == "":
		return &InputError{"the working directory cannot be told, as if it had been removed: start the client again in one that exists"}
	case !filepath.IsAbs(r.Dir):
		return &InputError{fmt.Sprintf("the working directory %q is not an absolute path", monitor.Shorten(monitor.Clean(r.Dir), 200))}
	}
	return nil
}
