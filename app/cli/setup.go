package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/daemon"
	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func (p *program) setupVerb() *cobra.Command {
	var o setupOptions
	cmd := &cobra.Command{
		Use:   "setup [CLIENT]",
		Short: "Put sharing into your clients' settings, or take it out again",
		Long: `Looks into the settings of Claude Code, Claude Desktop, Codex, Cursor, VS Code and
Gemini CLI, and puts lamplighter-connect in front of the command of every Serena,
so that clients share one. Only command and args of those entries change:
comments, order and formatting stay as they are, and so does every other entry.

It shows what it would change, and asks. With CLIENT or --file, and with --yes, it
acts at once. Without a terminal it changes nothing unless --yes is given. The file
as it was is kept beside it, as FILE.lamplighter-backup. --undo puts that back, byte
for byte; where you have edited the file since, it takes out what setup has written
and leaves your edits. With --server it takes out these entries alone.

A settings file that belongs to a project is changed with --project or --file
only: others may use it, and a path on this machine would not work for them. For
--undo this holds for what setup has not written there itself. A file that is not
valid, that is read-only or that changes while it is worked on is left as it is,
and you are told why.

A client that runs is never ended. It reads its settings when it starts, so start
it again. Where Lamplighter does not run, its clients start their servers themselves.

Secrets are not shown: … stands in their place, and where a long text is cut.`,
		Example: `  lamplighter setup
  lamplighter setup --list
  lamplighter setup --dry-run
  lamplighter setup codex
  lamplighter setup --file .mcp.json
  lamplighter setup claude-code --server notes
  lamplighter setup --no-page
  lamplighter setup --undo`,
		Args:              func(cmd *cobra.Command, args []string) error { return o.check(cmd, args) },
		ValidArgsFunction: p.completeClients,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.setUp(cmd.Context(), o); err != nil {
				return fmt.Errorf("setup: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.file, "file", "", "change this `FILE` alone, whosever settings it is")
	flags.VarPF(wordFlag{&o.list}, "list", "", "show each entry and what it runs, and change nothing").NoOptDefVal = "true"
	flags.VarPF(wordFlag{&o.dryRun}, "dry-run", "", "show as a diff what would change, and change nothing").NoOptDefVal = "true"
	flags.VarPF(wordFlag{&o.undo}, "undo", "", "take it out again").NoOptDefVal = "true"
	flags.StringArrayVar(&o.servers, "server", nil, "change or undo the entries of this `NAME` alone, Serena or not; may be repeated")
	flags.VarPF(wordFlag{&o.project}, "project", "", "change the settings files of the project here, too").NoOptDefVal = "true"
	flags.VarPF(wordFlag{&o.noPage}, "no-page", "", "stop Serena from opening a page of its own for every server").NoOptDefVal = "true"
	flags.VarPF(wordFlag{&o.yes}, "yes", "", "do not ask").NoOptDefVal = "true"
	flags.VarPF(wordFlag{&o.asJSON}, "json", "", "print JSON").NoOptDefVal = "true"
	// The error would say that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("server", p.completeEntries)
	return cmd
}

// setupOptions are what the command line says.
type setupOptions struct {
	client, file string
	servers      []string

	list, dryRun, undo, project, noPage, yes, asJSON bool
}

// check refuses what would have to be guessed. It takes over the argument.
func (o *setupOptions) check(cmd *cobra.Command, args []string) error {
	if err := takes(0, 1, "one client at most, as in lamplighter setup codex")(cmd, args); err != nil {
		return err
	}
	given := func(names ...string) string {
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				return "--" + name
			}
		}
		return ""
	}
	var with string // what a listing or an undoing has no use for
	switch {
	case o.list:
		with = given("undo", "dry-run", "server", "project", "no-page", "yes")
	case o.undo:
		with = given("no-page")
	}
	switch {
	case len(args) == 1 && args[0] == "":
		return errors.New("the name of the client is empty; lamplighter setup --list shows them")
	case len(args) == 1 && given("file") != "":
		return errors.New("setup takes either a client or --file")
	case given("file") != "" && o.file == "":
		return errors.New("the name behind --file is empty")
	case slices.Contains(o.servers, ""):
		return errors.New("the name behind --server is empty; lamplighter setup --list shows them")
	case o.list && with != "":
		return fmt.Errorf("--list changes nothing; leave %s out", with)
	case o.undo && with != "":
		return fmt.Errorf("--undo takes out what setup has written; leave %s out", with)
	case o.dryRun && o.yes:
		return errors.New("--dry-run changes nothing; leave --yes out")
	}
	if len(args) == 1 {
		o.client = args[0]
	}
	return nil
}

// again is a command line for the same files.
func (o setupOptions) again(flag string) string {
	words := []string{"lamplighter", "setup"}
	switch {
	case o.client != "":
		words = append(words, o.client)
	case o.file != "":
		words = append(words, "--file", o.file)
	case o.project:
		words = append(words, "--project")
	}
	for _, name := range o.servers {
		words = append(words, "--server", name)
	}
	return monitor.Quoted(append(words, flag))
}

// asks reports whether the user is to be asked first: nothing on the command line
// says which settings are meant.
func (o setupOptions) asks() bool { return o.client == "" && o.file == "" && !o.yes }

func (o setupOptions) wanted() (setup.Wanted, error) {
	w := setup.Wanted{
		Client: o.client, Servers: o.servers, Project: o.project,
		Undo: o.undo, DryRun: o.dryRun, NoPage: o.noPage,
	}
	if o.file != "" {
		path, err := filepath.Abs(o.file)
		if err != nil {
			return w, err
		}
		w.File = path
	}
	return w, nil
}

// settingsOfClients are those that can be reached from here. connect is the path of
// lamplighter-connect, "" when it is not known.
func (p *program) settingsOfClients(connect string) (api.Setup, error) {
	state := p.Places().StateDir
	if p.Base.Home == "" || state == "" {
		return nil, errors.New("there is no home directory in which settings could be; set HOME to yours")
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // then no project is looked at
	}
	return p.Setup(setup.Options{Home: p.Base.Home, Getenv: p.Getenv, Dir: dir, State: state, Connect: connect, Socket: p.SocketForClients()}), nil
}

// clientsJSON is what --list --json prints.
type clientsJSON struct {
	Clients []setup.Client `json:"clients"`
}

// setUp is the verb.
func (p *program) setUp(ctx context.Context, o setupOptions) error {
	if p.keyboard == nil && !o.list && !o.dryRun && !o.yes {
		return usageError{errors.New("nobody can be asked here, and nothing was changed; add --yes to change the files, or --dry-run to look at what would change")}
	}
	connect, missing := p.BesideUs(daemon.ConnectName)
	if missing != nil && !o.list && !o.undo {
		return missing
	}
	settings, err := p.settingsOfClients(connect)
	if err != nil {
		return err
	}
	w, err := o.wanted()
	if err != nil {
		return err
	}
	clients, err := listed(ctx, settings, w)
	if err != nil {
		return err
	}
	if w.Client != "" {
		o.client, w.Client = clients[0].ID, clients[0].ID
	}
	if o.list {
		setup.NoteRunning(clients, p.glanceAtServers(ctx))
	}
	words := setupWords{home: p.Base.Home, screen: p.screen, options: o}
	switch {
	case o.list && o.asJSON:
		return p.printJSON(clientsJSON{clients})
	case o.list:
		return p.print(words.list(clients))
	case o.asJSON && !o.dryRun && o.asks():
		return usageError{errors.New("with --json nobody is asked; add --yes to change the files, or --dry-run to look at what would change")}
	}
	run := &setupRun{program: p, settings: settings, wanted: w, words: words, clients: clients, told: map[string]bool{}}
	switch {
	case o.asJSON:
		return run.inJSON(ctx)
	case o.dryRun:
		return run.look(ctx)
	case o.asks():
		return run.ask(ctx)
	}
	return run.act(ctx)
}

// listed are the clients that w means. An unknown one is wrong usage.
func listed(ctx context.Context, settings api.Setup, w setup.Wanted) ([]setup.Client, error) {
	all, err := settings.List(ctx, setup.Wanted{File: w.File, Project: w.Project})
	if err != nil || w.Client == "" {
		return all, err
	}
	for _, c := range all {
		if isCalled(c, w.Client) {
			return []setup.Client{c}, nil
		}
	}
	return nil, usageError{errors.New(noClient(w.Client, all))}
}

// isCalled reports whether a client is meant by what is written: its ID, its name, or
// the name of its command, in letters of any case.
func isCalled(c setup.Client, written string) bool {
	return strings.EqualFold(written, c.ID) || strings.EqualFold(written, c.Name) || c.ID == "vscode" && strings.EqualFold(written, "code")
}

// noClient says that there is no such client, and which one may be meant.
func noClient(written string, all []setup.Client) string {
	text := fmt.Sprintf("there is no client %q", monitor.Clean(written))
	asked := strings.ToLower(strings.ReplaceAll(written, " ", "-"))
	var ids, near []string
	byName := map[string]string{}
	for _, c := range all {
		ids = append(ids, c.ID)
		name := strings.ReplaceAll(c.ID, "-", "_") // as config.Nearest reads what was written
		byName[name] = c.ID
		if strings.HasPrefix(c.ID, asked) {
			near = append(near, c.ID)
		}
	}
	if len(near) == 0 {
		names := make([]string, 0, len(byName))
		for _, id := range ids {
			names = append(names, strings.ReplaceAll(id, "-", "_"))
		}
		if id := byName[config.Nearest(asked, names)]; id != "" {
			near = append(near, id)
		}
	}
	if len(near) > 0 {
		return text + "; did you mean " + strings.Join(near, " or ") + "? Known are " + strings.Join(ids, ", ") + ", and any file with --file"
	}
	return text + "; known are " + strings.Join(ids, ", ") + ", and any file with --file"
}

func (p *program) print(text string) error {
	_, err := fmt.Fprint(p.Stdout, text)
	return err
}

// completeClients offers the clients that are known.
func (p *program) completeClients(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || cmd.Flags().Changed("file") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []cobra.Completion
	for _, c := range p.glanceAtClients(cmd.Context()) {
		offers = append(offers, cobra.CompletionWithDesc(c.ID, c.Name))
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// completeEntries offers the names of the entries that are there.
func (p *program) completeEntries(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offers []cobra.Completion
	seen := map[string]bool{}
	for _, c := range p.glanceAtClients(cmd.Context()) {
		if len(args) > 0 && !isCalled(c, args[0]) {
			continue
		}
		for _, f := range c.Files {
			for _, e := range f.Entries {
				if !seen[e.Name] {
					seen[e.Name] = true
					offers = append(offers, cobra.CompletionWithDesc(monitor.Clean(e.Name), c.Name))
				}
			}
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// glanceAtClients lists the clients for a completion: quick and silent.
func (p *program) glanceAtClients(ctx context.Context) []setup.Client {
	ctx, cancel := context.WithTimeout(ctx, p.Limits.Glance)
	defer cancel()
	connect, err := p.BesideUs(daemon.ConnectName)
	if err != nil {
		connect = "" // what an entry runs is not asked for
	}
	settings, err := p.settingsOfClients(connect)
	if err != nil {
		return nil
	}
	clients, err := settings.List(ctx, setup.Wanted{})
	if err != nil {
		return nil
	}
	return clients
}

// glanceAtServers lists the servers that the background process knows, none where
// that does not answer at once.
func (p *program) glanceAtServers(ctx context.Context) []*view.Server {
	ctx, cancel := context.WithTimeout(ctx, p.Limits.Glance)
	defer cancel()
	client, _, err := api.Dial(ctx, p.Places().ControlSocket)
	if err != nil {
		return nil
	}
	defer client.Close()
	list, err := client.Instances(ctx)
	if err != nil {
		return nil
	}
	return list.Instances
}

// backgroundRuns reports whether there is somebody for lamplighter-connect to ask.
func (p *program) backgroundRuns(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, p.Limits.Glance)
	defer cancel()
	client, _, err := api.Dial(ctx, p.Places().ControlSocket)
	if err != nil {
		return false
	}
	client.Close()
	return true
}
