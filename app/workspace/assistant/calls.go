package assistant

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/workspace"
)

// The arguments of the tools.
type (
	createArguments struct {
		Kind             workspace.Kind    `json:"kind" jsonschema:"temp: ends with its job. persistent: stays, with versions. hybrid: its tree ends with the job, its versions stay"`
		Job              string            `json:"job" jsonschema:"a short name for what is going to be done; the workspace can be found by it"`
		From             string            `json:"from,omitempty" jsonschema:"directory or git repository to make it from; left out it is empty"`
		Ref              string            `json:"ref,omitempty" jsonschema:"branch, tag or commit of the git repository to begin at; left out it is what is checked out there"`
		In               string            `json:"in,omitempty" jsonschema:"existing directory to make it in; left out it is the usual place"`
		Project          string            `json:"project,omitempty" jsonschema:"name of the project, the first part of the directory's name; told from the source when left out"`
		Share            []string          `json:"share,omitempty" jsonschema:"directories such as node_modules, relative to the source, that are linked and not copied. Do not write to them"`
		Cleanup          workspace.Cleanup `json:"cleanup,omitempty" jsonschema:"when it is taken away without being asked: at completion, after the retention, by hand only, or after the retention into an archive"`
		RetentionSeconds int64             `json:"retention_seconds,omitempty" jsonschema:"how long it stays when nobody uses it; a day when left out"`
		Serve            bool              `json:"serve,omitempty" jsonschema:"start an MCP server (Serena) on it, which ends with it"`
		Wait             bool              `json:"wait,omitempty" jsonschema:"wait for a place when there are as many workspaces as may be"`
		Copy             bool              `json:"copy,omitempty" jsonschema:"copy the source as it is, with what is not committed, also where it is a git repository"`
	}
	nothing      struct{}
	nameArgument struct {
		Workspace string `json:"workspace" jsonschema:"id, name or job of the workspace"`
	}
	keepArguments struct {
		Workspace string `json:"workspace" jsonschema:"id, name or job of the workspace"`
		Message   string `json:"message" jsonschema:"what is in this version, in a sentence"`
	}
	diffArguments struct {
		Workspace string `json:"workspace" jsonschema:"id, name or job of the workspace"`
		From      int    `json:"from,omitempty" jsonschema:"number of a version; the last one when left out"`
		To        int    `json:"to,omitempty" jsonschema:"number of a version; the tree as it is now when left out"`
	}
	restoreArguments struct {
		Workspace string `json:"workspace" jsonschema:"id, name or job of the workspace"`
		Version   int    `json:"version,omitempty" jsonschema:"number of the version to put into the tree; left out it is brought back from its archive"`
	}
	scanArguments struct {
		Dirs []string `json:"dirs,omitempty" jsonschema:"directories to look in and below; the working directory when left out"`
	}
	removeArguments struct {
		Workspace string `json:"workspace,omitempty" jsonschema:"id, name or job of the workspace; either this or path"`
		Path      string `json:"path,omitempty" jsonschema:"path of a worktree that workspace_scan has found; either this or workspace"`
		Force     bool   `json:"force,omitempty" jsonschema:"remove it also when work would be lost. Only when the user has agreed to lose what a call without it has named"`
		DryRun    bool   `json:"dry_run,omitempty" jsonschema:"remove nothing, and say what would be removed and lost"`
	}
)

// The answers.
type (
	described struct {
		workspace.Workspace
		RetentionSeconds int64 `json:"retention_seconds" jsonschema:"how long it stays when nobody uses it"`
	}
	shown struct {
		described
		Kept []workspace.Version `json:"versions" jsonschema:"oldest first"` // the schema tells fields apart by their Go names, too
	}
	listed struct {
		Workspaces []described `json:"workspaces"`
		Problem    string      `json:"problem,omitempty" jsonschema:"what could not be read"`
	}
	differing struct {
		From    int                `json:"from"`
		To      int                `json:"to" jsonschema:"0 is the tree as it is now"`
		Changes []workspace.Change `json:"changes"`
		Left    int                `json:"without_text" jsonschema:"how many changes have no text here because all of it would be too long"`
	}
)

// diffMost bounds the texts of one answer: assistants read all of it.
const diffMost = 64 << 10

func describe(w workspace.Workspace) described {
	return described{Workspace: w, RetentionSeconds: int64(w.Retention / time.Second)}
}

func (t tools) create(ctx context.Context, req *mcp.CallToolRequest, in createArguments) (_ *mcp.CallToolResult, out described, err error) {
	if in.RetentionSeconds < 0 || in.RetentionSeconds > int64(mostRetention/time.Second) {
		return nil, out, fmt.Errorf("retention_seconds is %d; it is a number from 1 to %d, or left out", in.RetentionSeconds, int64(mostRetention/time.Second))
	}
	q := workspace.Request{
		Kind: in.Kind, From: t.absolute(in.From), Ref: in.Ref, In: t.absolute(in.In), Job: in.Job, Project: in.Project, Share: in.Share,
		Cleanup: in.Cleanup, Retention: time.Duration(in.RetentionSeconds) * time.Second, Serve: in.Serve, Wait: in.Wait, Copy: in.Copy,
	}
	var w workspace.Workspace
	t.noting(ctx, req, func(progress func(workspace.Progress)) { w, err = t.manager.Create(ctx, q, progress) })
	var full *workspace.TooMany
	if errors.As(err, &full) && ctx.Err() == nil {
		return nil, out, fmt.Errorf("%w: %s. Call it again with wait to wait for a place, or remove one that is not needed any more", err, full.Held(time.Now()))
	}
	if err == nil && ctx.Err() != nil {
		err = t.takeBack(ctx, w)
	}
	return nil, describe(w), workspace.Interrupted(ctx, err, "nothing was made")
}

// takeBack removes a workspace whose answer nobody takes: nobody knows of it, and
// nobody has worked in it. The error is never nil.
func (t tools) takeBack(ctx context.Context, w workspace.Workspace) error {
	if _, err := t.manager.Remove(context.WithoutCancel(ctx), w.ID, workspace.Removal{By: "its client has gone"}); err != nil {
		t.log.Warn("a workspace that nobody knows of stays", "workspace", w.Name, "error", err)
		return fmt.Errorf("the workspace %s is made, and could not be taken back: %w", w.Name, err)
	}
	return context.Cause(ctx)
}

// mostRetention is ten years.
const mostRetention = 10 * 365 * 24 * time.Hour

func (t tools) list(ctx context.Context, _ *mcp.CallToolRequest, _ nothing) (*mcp.CallToolResult, listed, error) {
	list, err := t.manager.List(ctx)
	if err != nil && len(list) == 0 {
		return nil, listed{}, err
	}
	out := listed{Workspaces: make([]described, len(list))}
	for i, w := range list {
		out.Workspaces[i] = describe(w)
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return nil, out, nil
}

func (t tools) show(ctx context.Context, _ *mcp.CallToolRequest, in nameArgument) (_ *mcp.CallToolResult, out shown, err error) {
	w, err := t.find(ctx, in.Workspace)
	if err != nil {
		return nil, out, err
	}
	versions, err := t.manager.Versions(ctx, w.ID)
	if err != nil {
		return nil, out, err
	}
	return nil, shown{described: describe(w), Kept: append([]workspace.Version{}, versions...)}, nil
}

func (t tools) keep(ctx context.Context, req *mcp.CallToolRequest, in keepArguments) (_ *mcp.CallToolResult, v workspace.Version, err error) {
	w, err := t.find(ctx, in.Workspace)
	if err != nil {
		return nil, v, err
	}
	t.noting(ctx, req, func(progress func(workspace.Progress)) { v, err = t.manager.Keep(ctx, w.ID, in.Message, progress) })
	return nil, v, workspace.Interrupted(ctx, err, "no version was made")
}

func (t tools) diff(ctx context.Context, _ *mcp.CallToolRequest, in diffArguments) (_ *mcp.CallToolResult, out differing, err error) {
	w, err := t.find(ctx, in.Workspace)
	if err != nil {
		return nil, out, err
	}
	if in.From < 0 || in.To < 0 {
		return nil, out, errors.New("versions are numbered from 1; workspace_show lists them")
	}
	if in.From == 0 {
		versions, err := t.manager.Versions(ctx, w.ID)
		if err != nil {
			return nil, out, err
		}
		if len(versions) == 0 {
			return nil, out, fmt.Errorf("%s has no versions to compare with; workspace_keep makes one", w.Name)
		}
		in.From = versions[len(versions)-1].Number
	}
	changes, err := t.manager.Diff(ctx, w.ID, in.From, in.To)
	if err != nil {
		return nil, out, err
	}
	out = differing{From: in.From, To: in.To}
	out.Changes, out.Left = workspace.FitDiffs(changes, diffMost)
	return nil, out, nil
}

func (t tools) archive(ctx context.Context, req *mcp.CallToolRequest, in nameArgument) (_ *mcp.CallToolResult, out described, err error) {
	w, err := t.find(ctx, in.Workspace)
	if err != nil {
		return nil, out, err
	}
	t.noting(ctx, req, func(progress func(workspace.Progress)) { w, err = t.manager.Archive(ctx, w.ID, progress) })
	return nil, describe(w), workspace.Interrupted(ctx, err, "workspace_show says how it is now")
}

func (t tools) restore(ctx context.Context, req *mcp.CallToolRequest, in restoreArguments) (_ *mcp.CallToolResult, out described, err error) {
	w, err := t.find(ctx, in.Workspace)
	if err != nil {
		return nil, out, err
	}
	if in.Version < 0 {
		return nil, out, errors.New("versions are numbered from 1; workspace_show lists them")
	}
	t.noting(ctx, req, func(progress func(workspace.Progress)) { w, err = t.manager.Restore(ctx, w.ID, in.Version, progress) })
	return nil, describe(w), workspace.Interrupted(ctx, err, "workspace_show says how it is now")
}

func (t tools) complete(ctx context.Context, req *mcp.CallToolRequest, in nameArgument) (*mcp.CallToolResult, workspace.Outcome, error) {
	w, err := t.find(ctx, in.Workspace)
	if err != nil {
		return nil, workspace.Outcome{}, err
	}
	out, err := t.manager.Complete(ctx, w.ID, client(req.Session))
	return nil, out, err
}

func (t tools) scan(ctx context.Context, req *mcp.CallToolRequest, in scanArguments) (_ *mcp.CallToolResult, out workspace.Scanned, err error) {
	dirs := []string{t.dir}
	if len(in.Dirs) > 0 {
		dirs = dirs[:0]
	}
	for _, dir := range in.Dirs {
		if dir == "" {
			return nil, out, errors.New("the name of a directory is empty; . is the working directory")
		}
		dirs = append(dirs, t.absolute(dir))
	}
	noted(ctx, req, t.every, func(tell func(note)) {
		var progress func(int, string)
		if tell != nil {
			progress = func(found int, at string) {
				tell(note{percent: -1, words: fmt.Sprintf("%d found, looking in %s", found, at)})
			}
		}
		out, err = t.manager.Scan(ctx, dirs, progress)
	})
	if err != nil {
		return nil, out, err
	}
	out.Worktrees = append([]workspace.Stale{}, out.Worktrees...)
	out.Problems = append([]string{}, out.Problems...)
	return nil, out, nil
}

func (t tools) remove(ctx context.Context, req *mcp.CallToolRequest, in removeArguments) (_ *mcp.CallToolResult, out workspace.Outcome, err error) {
	q := workspace.Removal{Force: in.Force, DryRun: in.DryRun, By: client(req.Session)}
	switch {
	case (in.Workspace == "") == (in.Path == ""):
		return nil, out, errors.New("give either workspace or path")
	case in.Path != "":
		out, err = t.manager.RemoveStale(ctx, t.absolute(in.Path), q)
	default:
		var w workspace.Workspace
		if w, err = t.find(ctx, in.Workspace); err != nil {
			return nil, out, err
		}
		out, err = t.manager.Remove(ctx, w.ID, q)
	}
	if errors.Is(err, workspace.ErrLoss) || errors.Is(err, workspace.ErrInUse) || errors.Is(err, workspace.ErrBusy) {
		// Refused, with what would be lost for programs too.
		result := &mcp.CallToolResult{}
		result.SetError(err)
		return result, out, nil
	}
	return nil, out, err
}

// find is the workspace that is meant.
func (t tools) find(ctx context.Context, name string) (workspace.Workspace, error) {
	if name == "" {
		return workspace.Workspace{}, errors.New("workspace is empty; workspace_list shows them")
	}
	w, err := t.manager.Find(ctx, name)
	if errors.Is(err, workspace.ErrUnknown) {
		return w, fmt.Errorf("%w: %q; workspace_list shows them", workspace.ErrUnknown, name)
	}
	return w, err
}

// noting runs do with a function for its progress, nil when nobody wants to know.
func (t tools) noting(ctx context.Context, req *mcp.CallToolRequest, do func(progress func(workspace.Progress))) {
	noted(ctx, req, t.every, func(tell func(note)) {
		if tell == nil {
			do(nil)
			return
		}
		do(func(p workspace.Progress) { tell(note{percent: p.Percent, words: p.Words()}) })
	})
}

// absolute is a path as the client means it; "" stays.
func (t tools) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.dir, path)
}
