package share

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/app/launch"
	"lamplighter/app/project"
	"lamplighter/monitor"
)

// ForProject says how a client over HTTP is served that wants the project in
// dir: with the usual Serena of the settings, in a context in which it cannot
// change the project. The error is an *InputError when dir is no project, a
// *launch.NotFoundError when no Serena is found, or that of ctx.
func (a *Planner) ForProject(ctx context.Context, dir string, usual launch.Template) (Plan, error) {
	return a.forUsual(ctx, Request{Dir: dir, Moved: true, Project: dir}, usual, true)
}

// ForAddress is ForProject for a client that names no project: it has none, or the one
// that it has activated since, by path or name, in the context of the settings. The
// settings must not have the project anywhere but behind --project.
func (a *Planner) ForAddress(ctx context.Context, project string, usual launch.Template) (Plan, error) {
	return a.forUsual(ctx, Request{Dir: a.home, Moved: true, Project: project}, usual, false)
}

// projectMark stands for the project in the settings.
const projectMark = "{project}"

// forUsual plans for a client over HTTP. When it is fixed, the project of r is a
// directory, and cannot be changed.
func (a *Planner) forUsual(ctx context.Context, r Request, usual launch.Template, fixed bool) (Plan, error) {
	if !filepath.IsAbs(r.Project) && (fixed || isPath(r.Project)) {
		return Plan{}, &InputError{fmt.Sprintf("%q is not the absolute path of a project", monitor.Shorten(monitor.Clean(r.Project), 200))}
	}
	filled := slices.Concat(usual.Command, usual.Arguments)
	for i, word := range filled {
		if fixed { // all others are refused below
			filled[i] = strings.ReplaceAll(word, projectMark, r.Project)
		}
	}
	command, args := slices.Clip(filled[:len(usual.Command)]), filled[len(usual.Command):]
	found, err := a.resolve(ctx, launch.Wanted{Command: command, Project: r.Project, Serena: true})
	if err != nil {
		return Plan{}, err
	}
	words := slices.Concat(found.Chosen.Command, []string{subcommand}, args)
	end := slices.Index(words, subcommand) + 1
	if end <= len(found.Chosen.Command) { // what it has behind that are arguments like the others
		words = slices.Concat(found.Chosen.Command, args)
	}
	w := wish{
		Request: r, env: relevant(runtime.GOOS, a.o.Environment(ctx, found.Chosen.Env...)), fixed: fixed, version: found.Chosen.Version, program: slices.Clip(words[:end]),
	}
	err = w.parse(words[end:])
	switch {
	case err != nil:
	case fixed && !slices.Contains(singleProject, w.context):
		w.context = "claude-code"
	case !fixed && strings.Contains(strings.Join(slices.Concat(usual.Command, w.words()), " "), projectMark):
		err = alone("the settings of lamplighter start Serena with {project}: name it in the address, /mcp?project=DIR")
	}
	return a.plan(ctx, w, err)
}

// Root is the project of a client over HTTP whose roots are these, by their addresses:
// that of the only one that lies in a project; "" when there is none, or several do.
func (a *Planner) Root(ctx context.Context, addresses []string) (only string) {
	for _, address := range addresses {
		path := pathOf(runtime.GOOS, address)
		if path == "" {
			continue
		}
		root, err := project.Look(ctx, &a.looks, "root", path, func(dir string) string {
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
