package share

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return Plan{}, notAbsolute(dir)
	}
	root, err := project.Look(ctx, &a.looks, "directory", dir, func(dir string) string { return directory(dir, "") })
	if err != nil {
		return orAlone(Plan{}, err)
	}
	if root == "" {
		return Plan{}, &InputError{fmt.Sprintf("there is no directory %s, or it cannot be read", monitor.Clean(dir))}
	}
	if filepath.Dir(root) == root || root == directory(a.home, "") {
		// Serena would make a project of it, in which all others lie.
		return Plan{}, &InputError{fmt.Sprintf("%s is no project, but the directory of all of them", monitor.Clean(root))}
	}
	return orAlone(a.forUsual(ctx, Request{Dir: root, Moved: true, Project: root}, usual, true))
}

// ForAddress is ForProject for a client that names no project: it has none, or the one
// that it has activated since, by path or name, in the context of the settings. The
// settings must not have the project anywhere but behind --project.
func (a *Planner) ForAddress(ctx context.Context, project string, usual launch.Template) (Plan, error) {
	if strings.ContainsRune(project, 0) || project != "" && isPath(project) && !filepath.IsAbs(project) {
		return Plan{}, notAbsolute(project)
	}
	return orAlone(a.forUsual(ctx, Request{Dir: a.home, Moved: true, Project: project}, usual, false))
}

func notAbsolute(project string) error {
	return &InputError{fmt.Sprintf("%q is not the absolute path of a project", monitor.Shorten(monitor.Clean(project), 200))}
}

// projectMark stands for the project in the settings.
const projectMark = "{project}"

// forUsual plans for a client over HTTP. When it is fixed, the project of r is a
// directory, and cannot be changed.
func (a *Planner) forUsual(ctx context.Context, r Request, usual launch.Template, fixed bool) (Plan, error) {
	if usual.Name != monitor.KindSerena {
		return Plan{}, notSerena
	}
	fill := func(text string) string {
		if fixed { // all others are refused below
			text = strings.ReplaceAll(text, projectMark, r.Project)
		}
		return text
	}
	wanted := launch.Wanted{Project: r.Project, Serena: true}
	for _, word := range usual.Command {
		wanted.Command = append(wanted.Command, fill(word))
	}
	found, err := a.o.Finder.Resolve(ctx, wanted)
	if err != nil {
		return Plan{}, err
	}
	w := wish{Request: r, program: found.Chosen.Command, version: found.Chosen.Version, directory: fill(usual.Directory), fixed: fixed}
	// What the command has behind the subcommand are arguments like the others.
	var args []string
	if i := slices.Index(w.program, subcommand); i > 0 {
		w.program, args = w.program[:i], slices.Clone(w.program[i+1:])
	}
	w.program = append(slices.Clip(w.program), subcommand)
	for _, arg := range usual.Arguments {
		args = append(args, fill(arg))
	}
	ours := a.o.Environment(ctx, found.Chosen.Env...)
	w.env = relevant(runtime.GOOS, ours)
	for name, value := range usual.Env {
		w.env[envName(runtime.GOOS, name)] = fill(value)
	}
	if err := w.parse(args); err != nil {
		return Plan{}, err
	}
	marked := strings.Join(slices.Concat(usual.Command, w.kept, []string{w.context, usual.Directory}, slices.Collect(maps.Values(usual.Env))), " ")
	switch {
	case fixed && !slices.Contains(singleProject, w.context):
		w.context = "claude-code"
	case !fixed && strings.Contains(marked, projectMark):
		return Plan{}, alone("the settings of lamplighter start Serena with {project}: name it in the address, /mcp?project=DIR")
	}
	return a.plan(ctx, w)
}

// mostRoots is how many of a client's roots are looked at.
const mostRoots = 100

// Root is the project of a client over HTTP whose roots are these, by their addresses:
// that of the only one that lies in a project; "" when there is none, or several do.
func (a *Planner) Root(ctx context.Context, addresses []string) string {
	only := ""
	for _, address := range addresses[:min(len(addresses), mostRoots)] {
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
