package share

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"lamplighter/app/launch"
	"lamplighter/app/project"
	"lamplighter/monitor"
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
	// Alone says why it cannot be shared, as a part of a sentence: "Serena 1.4.2 is not known
	// to be safe with several clients at once"; "" when it can. Then there is nothing else.
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

	// Of the one look at users that there is at a time.
	others   string
	othersAt time.Time

	lifetime  context.Context
	resolving project.Looks // for what a command runs, which the Finder limits
}

// NewPlanner returns a Planner. It looks at nothing yet. What is begun for clients that have
// given up since goes on until ctx ends; then nothing is found out any more.
func NewPlanner(ctx context.Context, o PlannerOptions) *Planner {
	home, _ := os.UserHomeDir() // then a client without HOME has none either
	return &Planner{o: o, home: home, looks: project.Looks{Limit: lookTime}, lifetime: ctx, resolving: project.Looks{Limit: 24 * time.Hour}}
}

// wish is what a plan is made of: what the client wants, what its command says, and what
// was found for that.
type wish struct {
	Request
	env     map[string]string // what the server gets of the client's
	fixed   bool              // the client cannot change its project
	version string            // of Serena; "" when the Finder is to be asked

	program []string // what starts the server, up to its subcommand; once located its first word is absolute
	project string   // as given, "" for none
	fromCwd bool
	context string
	modes   []string
	kept    []string // what is not about transport, project, context and page, in its order, each option with its value behind it
	page    string   // see Reading

	root             string // of the project, without symbolic links; "" when there is none
	home, serenaHome string
	tools            []string // where the client's PATH finds what language servers use, in words
	err              error    // why it was not located
}

// words are the arguments with which the server is started. Where its context stood
// among the others means nothing, so that all who have it share.
func (w *wish) words() []string { return append(slices.Clip(w.kept), "--context", w.context) }

// Plan says how the client is served that would run what r says. The error is an
// *InputError when that makes no sense, which is the answer to its initialize,
// or that of ctx.
func (a *Planner) Plan(ctx context.Context, r Request) (Plan, error) {
	w := wish{Request: r, env: relevant(runtime.GOOS, r.Env)}
	err := w.read(runtime.GOOS)
	return a.plan(ctx, w, err)
}

// plan finishes a wish whose command was read, with err. What stands against sharing
// becomes a plan here.
func (a *Planner) plan(ctx context.Context, read wish, err error) (Plan, error) {
	w := read
	if err == nil {
		w, err = project.Look(ctx, &a.looks, fmt.Sprintf("%#v", read), read.Dir, func(string) wish {
			located := read // the look may outlast this call
			located.err = located.locate(a.home)
			return located
		})
		err = cmp.Or(err, w.err)
	}
	if err == nil {
		err = a.admit(ctx, &w)
	}
	var why alone
	switch {
	case errors.As(err, &why):
		return Plan{Alone: string(why)}, nil
	case errors.Is(err, project.ErrSilent):
		return Plan{Alone: fmt.Sprintf("the files that tell what can be shared did not answer within %s: a network or a mount may hang", monitor.Span(lookTime))}, nil
	case err != nil:
		return Plan{}, err
	}
	ours := relevant(runtime.GOOS, a.o.Environment(ctx))
	delete(ours, "PATH") // nothing runs without
	plan := Plan{
		Moves: !w.fixed, Context: w.context, Modes: w.modes,
		Spec: launch.Spec{Project: w.root, Lifetime: launch.Shared, Template: launch.Template{
			Name: monitor.KindSerena, Command: w.program, Arguments: w.words(), Env: w.env, Unset: slices.Sorted(maps.Keys(ours)), Literal: true,
		}},
	}
	plan.Key, plan.Facts = w.key()
	plan.Fingerprint = func() string {
		sum, err := project.Look(context.Background(), &a.looks, "settings of "+plan.Key, w.program[0], w.sum)
		if err != nil {
			return "unknown " + rand.Text()
		}
		return sum
	}
	return plan, nil
}

// oldest is the first Serena that is safe with several clients at once.
const oldest = "1.5.0"

// admit says why a wish that was located cannot be shared all the same: nothing may be
// now, or not this version of Serena, which it asks for unless it is known.
func (a *Planner) admit(ctx context.Context, w *wish) error {
	if why := a.Forbids(ctx); why != "" {
		return alone(why)
	}
	if w.version == "" {
		found, err := a.resolve(ctx, launch.Wanted{Command: w.program, Project: w.root, Serena: true})
		if none := (*launch.NotFoundError)(nil); err != nil && !errors.As(err, &none) {
			return err
		}
		if w.version = found.Chosen.Version; !slices.Equal(found.Chosen.Command, w.program) {
			why := "its version could not be found out"
			if len(found.Tried) > 0 { // others come behind it
				why += ": " + monitor.Shorten(monitor.Clean(found.Tried[0].Detail), 200)
			}
			return alone(strings.TrimRight(why, "."))
		}
	}
	if !launch.Readable(w.version) || launch.CompareVersions(w.version, oldest) < 0 {
		return alone(fmt.Sprintf("Serena %s is not known to be safe with several clients at once, which %s is", w.version, oldest))
	}
	return nil
}

// resolve asks the Finder, until it has an answer or the Planner's time is over. Who asked
// may give up sooner, and ask again.
func (a *Planner) resolve(ctx context.Context, w launch.Wanted) (launch.Resolution, error) {
	type answer struct {
		found launch.Resolution
		err   error
	}
	r, err := project.Look(ctx, &a.resolving, "command", fmt.Sprintf("%#v", w), func(string) answer {
		found, err := a.o.Finder.Resolve(a.lifetime, w)
		return answer{found, err}
	})
	return r.found, cmp.Or(err, r.err)
}

// Forbids says why nothing may be shared now, as a part of a sentence; "" when it may
// be, and when ctx has ended. While others are logged in nothing is: a server on a
// loopback port answers to everybody on the machine.
func (a *Planner) Forbids(ctx context.Context) (why string) {
	if a.o.Allowed() {
		return ""
	}
	// A directory service that names them may hang. Of many who ask together one looks.
	why, err := project.Look(ctx, &a.looks, "users", "", func(string) string {
		if time.Since(a.othersAt) >= othersFor {
			a.others, a.othersAt = othersInWords(a.o.OthersLoggedIn()), time.Now()
		}
		return a.others
	})
	if errors.Is(err, project.ErrSilent) {
		return othersInWords(nil, err)
	}
	return why
}

// othersFor is how long it counts who was logged in: each process is looked at for that.
const othersFor = 5 * time.Second

// nameColumns is how much of the names a sentence holds.
const nameColumns = 60

func othersInWords(names []string, err error) string {
	const allowed = ", who could use what is shared (share_with_other_users allows it)"
	switch {
	case len(names) > 0:
		shown := monitor.Shorten(monitor.Clean(strings.Join(names, ", ")), nameColumns)
		return monitor.Plural(len(names), "other user is", "other users are") + " logged in, " + shown + allowed
	case err != nil:
		return "it is not known whether other users are logged in" + allowed
	}
	return ""
}

// LoggedIn returns the names of the users other than us, and other than the
// system's own, who have a session or a program running, in a fixed order. The
// error says that it cannot be known.
func LoggedIn() ([]string, error) {
	found, err := otherUsers()
	return slices.Sorted(maps.Keys(found)), err
}
