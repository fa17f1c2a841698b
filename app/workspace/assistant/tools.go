package assistant

import (
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/workspace"
)

// What a tool does, for clients that ask their user before some.
type effect int

const (
	looks  effect = iota // changes nothing
	adds                 // adds something, and takes nothing away
	alters               // takes something away, or replaces it
)

func (e effect) annotations(title string) *mcp.ToolAnnotations {
	destroys, open := e == alters, false
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: e == looks, DestructiveHint: &destroys, OpenWorldHint: &open}
}

// tools carry out what is asked for.
type tools struct {
	manager Manager
	dir     string
	every   time.Duration // least time between two notes of progress
	log     *slog.Logger
}

// addTools gives a server all of them.
func addTools(server *mcp.Server, t tools) error {
	for _, err := range []error{
		add(server, adds, "workspace_create", "Make a workspace",
			`Makes a directory for one job and answers its path, with an own directory for temporary files.
From a git repository it is a worktree on a new branch "lamplighter/…", from another directory a copy, without "from" it is empty.
kind temp ends with its job; persistent stays and has versions; hybrid has a tree that ends with the job, and versions that stay.
When there are as many workspaces as may be, this fails and says who has them; with wait it waits for a place.`, t.create),
		add(server, looks, "workspace_list", "List workspaces",
			`Lists the workspaces of all jobs with path, size, age, and what will happen to each and when.`, t.list),
		add(server, looks, "workspace_show", "Show a workspace",
			`Shows one workspace with all that is known of it and its versions.`, t.show),
		add(server, adds, "workspace_keep", "Keep a version",
			`Keeps the state of a persistent or hybrid workspace as a numbered version, which never changes. Do this with what is worth keeping before the job ends.`, t.keep),
		add(server, looks, "workspace_diff", "Compare versions",
			`Says what differs between a version and a later one or the tree as it is now. Without "from" it is the last version.`, t.diff),
		add(server, alters, "workspace_archive", "Archive a workspace",
			`Packs all of a workspace into an archive and takes its tree away. workspace_restore brings it back.`, t.archive),
		add(server, alters, "workspace_restore", "Restore a workspace",
			`Brings an archived workspace back, or puts a version into the tree. What is in the tree and in no version is kept as a version before, so that nothing is lost.`, t.restore),
		add(server, alters, "workspace_complete", "Complete a job",
			`Says that the job of a workspace has ended. A temp one is taken away then, of a hybrid one the tree, a persistent one stays. When work would be lost or a process still works inside, it stays, and the answer says why.`, t.complete),
		add(server, looks, "workspace_scan", "Find stale worktrees",
			`Finds the git worktrees of the repositories in and below directories, also those that other assistants have left: age, size, and whether they are merged, pushed, dirty, locked or in use. Changes nothing. May take minutes in large directories.`, t.scan),
		add(server, alters, "workspace_remove", "Remove a workspace",
			`Removes a workspace with its versions, or a worktree that workspace_scan has found. Refused, with what would be lost, when there is work that is nowhere else, and always while a process works inside. Commits are never lost: a branch with commits of its own stays.`, t.remove),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// add gives a server a tool, with schemas that are told from its types.
func add[In, Out any](server *mcp.Server, e effect, name, title, description string, do mcp.ToolHandlerFor[In, Out]) error {
	in, err := jsonschema.For[In](choices())
	if err != nil {
		return fmt.Errorf("the arguments of %s: %w", name, err)
	}
	out, err := jsonschema.For[Out](nil)
	if err != nil {
		return fmt.Errorf("the answer of %s: %w", name, err)
	}
	mcp.AddTool(server, &mcp.Tool{
		Name: name, Title: title, Description: description, Annotations: e.annotations(title), InputSchema: in, OutputSchema: out,
	}, do)
	return nil
}

// choices are the schemas of what has few values. They are for arguments alone: what
// is told of a worktree of others has none of these.
func choices() *jsonschema.ForOptions {
	one := func(values ...any) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: values} }
	return &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[workspace.Kind]():    one(workspace.Temp, workspace.Persistent, workspace.Hybrid),
		reflect.TypeFor[workspace.Cleanup](): one(workspace.AtCompletion, workspace.AtRetention, workspace.ByHand, workspace.ToArchive),
	}}
}
