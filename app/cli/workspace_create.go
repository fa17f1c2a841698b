package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func (p *program) workspaceCreateVerb() *cobra.Command {
	var o createOptions
	cmd := &cobra.Command{
		Use:   "create --kind KIND --job NAME",
		Short: "Make a workspace for a job",
		Long: `Makes a directory for a job, which only you can read, and prints its path. Without
--from it is empty. From a git repository it is a worktree on a new branch, at
--ref or at what is checked out; what is not committed is not in it, unless with
--copy. From another directory it is a copy, which takes no room of its own where
the file system can share it.

--share names directories such as node_modules that are not copied: a link in the
workspace leads to the original, so do not write there. lamplighter workspace run
makes them read-only for its job where the system can.`,
		Example: `  lamplighter workspace create --kind temp --from . --job fix-login
  lamplighter workspace create --kind hybrid --from ~/alpha --ref v1.2 --job report --share node_modules
  cd "$(lamplighter workspace create --kind temp --job scratch --json | jq -r .path)"`,
		Args:              func(cmd *cobra.Command, args []string) error { return o.check(cmd, args) },
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.workspaceCreate(cmd.Context(), o); err != nil {
				return fmt.Errorf("workspace create: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.kind, "kind", "", "`KIND`: "+inWords(kinds))
	flags.StringVar(&o.job, "job", "", "`NAME` of the job; the workspace can be found by it")
	flags.StringVar(&o.from, "from", "", "make it from this `DIR`, or the git repository there")
	flags.StringVar(&o.ref, "ref", "", "begin at this `REF` of the git repository: a branch, tag or commit")
	flags.StringVar(&o.in, "in", "", "make it in this `DIR` (default: the usual place)")
	flags.StringArrayVar(&o.share, "share", nil, "share this `DIR` of the source instead of copying it; may be repeated")
	flags.StringVar(&o.project, "project", "", "`NAME` of the project (default: told from the source)")
	flags.StringVar(&o.cleanup, "cleanup", "", "`WHEN` it is taken away by itself: "+inWords(cleanups)+" (default: by its kind)")
	flags.Var(spanFlag{&o.retention}, "retention", "keep it for this `TIME` (24h, 7d) when nobody uses it (default: that of the settings)")
	flags.BoolVar(&o.serve, "serve", false, "start a server on it, which ends with it; for this lamplighter has to run")
	flags.BoolVar(&o.wait, "wait", false, "wait for a place when there are as many workspaces as may be")
	flags.BoolVar(&o.copy, "copy", false, "copy the directory also where it is a git repository, with what is not committed")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	// The error would say that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("cleanup", cobra.FixedCompletions(cleanups, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("retention", cobra.FixedCompletions([]cobra.Completion{"1h", "24h", "7d"}, cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"job", "ref", "project"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	for _, name := range []string{"from", "in", "share"} {
		_ = cmd.RegisterFlagCompletionFunc(name, completeDirs)
	}
	return cmd
}

// What can stand behind --kind and --cleanup.
var (
	kinds    = []string{string(workspace.Temp), string(workspace.Persistent), string(workspace.Hybrid)}
	cleanups = []string{string(workspace.AtCompletion), string(workspace.AtRetention), string(workspace.ByHand), string(workspace.ToArchive)}
)

func inWords(values []string) string {
	return strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1]
}

// createOptions are what the command line says.
type createOptions struct {
	kind, job, from, ref, in, project, cleanup string
	share                                      []string
	retention                                  time.Duration
	serve, wait, copy, asJSON                  bool
}

// check refuses what would have to be guessed.
func (o *createOptions) check(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return errors.New("create takes no argument; the job is named with --job")
	}
	given := cmd.Flags().Changed
	for flag, dir := range map[string]string{"from": o.from, "in": o.in} {
		if given(flag) {
			if err := checkDir(dir); err != nil {
				return fmt.Errorf("--%s: %w", flag, err)
			}
		}
	}
	for _, dir := range o.share {
		if dir == "" || !utf8.ValidString(dir) {
			return errors.New("--share takes the name of a directory, as in --share node_modules")
		}
	}
	for flag, value := range map[string]string{"ref": o.ref, "project": o.project} {
		if given(flag) && value == "" {
			return fmt.Errorf("what stands behind --%s is empty", flag)
		}
	}
	switch {
	case !slices.Contains(kinds, o.kind):
		return fmt.Errorf("create takes --kind %s", inWords(kinds))
	case o.job == "":
		return errors.New("create takes the name of the job, as in --job fix-login")
	case given("cleanup") && !slices.Contains(cleanups, o.cleanup):
		return fmt.Errorf("--cleanup takes %s", inWords(cleanups))
	case o.ref != "" && o.from == "":
		return errors.New("--ref is of a git repository, which is named with --from")
	case o.ref != "" && o.copy:
		return errors.New("--copy takes the directory as it is; leave --ref out")
	case o.from == "" && slices.ContainsFunc(o.share, func(dir string) bool { return !filepath.IsAbs(dir) }):
		return errors.New("--share is relative to the source, which is named with --from; or name an absolute path")
	case o.copy && o.from == "":
		return errors.New("--copy copies a directory, which is named with --from")
	}
	return nil
}

// request is what is asked for, with absolute paths.
func (o *createOptions) request() (workspace.Request, error) {
	q := workspace.Request{
		Kind: workspace.Kind(o.kind), Ref: o.ref, Job: o.job, Project: o.project, Share: o.share, Cleanup: workspace.Cleanup(o.cleanup),
		Retention: o.retention, Serve: o.serve, Wait: o.wait, Copy: o.copy,
	}
	for _, path := range []struct {
		said string
		into *string
	}{{o.from, &q.From}, {o.in, &q.In}} {
		if path.said == "" {
			continue
		}
		full, err := filepath.Abs(path.said)
		if err == nil {
			err = checkDir(full) // of where we are, too
		}
		if err != nil {
			return q, err
		}
		*path.into = full
	}
	return q, nil
}

func (p *program) workspaceCreate(ctx context.Context, o createOptions) error {
	q, err := o.request()
	if err != nil {
		return err
	}
	m, err := p.manager()
	if err != nil {
		return err
	}
	w, err := m.Create(ctx, q, p.progressOf(monitor.Shorten(o.job, jobMost)))
	p.progress("")
	var full *workspace.TooMany
	switch {
	case err != nil && ctx.Err() != nil:
		return workspace.Interrupted(ctx, err, "nothing was made")
	case errors.As(err, &full):
		return fmt.Errorf("%w: %s. With --wait it waits for a place; lamplighter workspace rm removes one", err, full.Held(time.Now()))
	case err != nil:
		return err
	}
	if err := p.printMade(w, o.asJSON); err != nil {
		return fmt.Errorf("%w; the workspace is made: %s", err, w.Path)
	}
	return nil
}

func (p *program) printMade(w workspace.Workspace, asJSON bool) error {
	if asJSON {
		return p.printJSON(api.EncodeWorkspace(w))
	}
	lines := facts{{"id", w.ID}, {"path", w.Path}, {"kind", string(w.Kind)}, {"job", w.Job}, {"branch", w.Source.Branch}, {"then", w.Ends}}
	if w.Server != nil {
		lines = append(lines, fact{"server", w.Server.MCPURL})
	}
	return p.print(lines.text(""))
}

// fact is a line about something; one without a value is not shown.
type fact struct{ name, value string }

type facts []fact

// text is a line for each, the values below each other.
func (list facts) text(indent string) string {
	widest := 0
	for _, f := range list {
		if f.value != "" {
			widest = max(widest, len(f.name))
		}
	}
	var b strings.Builder
	for _, f := range list {
		if f.value != "" {
			fmt.Fprintf(&b, "%s%-*s  %s\n", indent, widest, f.name, monitor.Clean(f.value))
		}
	}
	return b.String()
}

// spanFlag is a length of time: what Go reads, and days.
type spanFlag struct{ into *time.Duration }

// longestSpan is ten years: nobody means more.
const longestSpan = 10 * 365 * 24 * time.Hour

func (f spanFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		if n, err = strconv.ParseFloat(days, 64); err == nil && n <= longestSpan.Hours()/24 {
			d = time.Duration(n * float64(24*time.Hour))
		}
	}
	if err != nil || d < time.Second || d > longestSpan {
		return fmt.Errorf("%q is not a length of time; write it like 90m, 24h or 7d", text)
	}
	*f.into = d
	return nil
}

func (f spanFlag) String() string { return "" }
func (f spanFlag) Type() string   { return "time" }
