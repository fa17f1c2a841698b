package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// lookFor looks, and finds the one server that the user means.
func (p *program) lookFor(ctx context.Context, what string) (*view.Server, error) {
	v, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	return choose(v.sent.Instances, what)
}

// pidOf is the pid of a server, of a parked one that it had.
func pidOf(id view.ID) string {
	pid, _, _ := strings.Cut(string(id), "-")
	return pid
}

// find returns the servers that a word of the user means: an id, a pid, else a port, the
// path or the name of the project that a Serena has, the whole label, a server's own name,
// else what status --by project lists for a project, by its name or directory. More than
// one may share a project.
func find(all []*view.Server, what string) []*view.Server {
	by := []func(*view.Server) bool{
		func(s *view.Server) bool { return string(s.ID) == what },
		func(s *view.Server) bool { return s.PID != nil && pidOf(s.ID) == what },
		func(s *view.Server) bool { return s.Port != nil && strconv.Itoa(*s.Port) == what },
		func(s *view.Server) bool { return pidOf(s.ID) == what },
		func(s *view.Server) bool { return s.ProjectRoot != nil && *s.ProjectRoot == what },
		func(s *view.Server) bool { return s.ProjectName != nil && *s.ProjectName == what },
		func(s *view.Server) bool { return s.Label == what },
		func(s *view.Server) bool { return strings.EqualFold(s.Name(), what) },
		func(s *view.Server) bool {
			return !s.OnPipes && (strings.EqualFold(view.ByProject(s), what) || s.Directory != nil && *s.Directory == what)
		},
	}
	for _, match := range by {
		var found []*view.Server
		for _, s := range all {
			if match(s) {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// choose finds the one server that the user means.
func choose(all []*view.Server, what string) (*view.Server, error) {
	found := find(all, what)
	if len(found) == 0 && (what == "." || what == ".." || strings.ContainsAny(what, `/\`)) {
		if path, err := filepath.Abs(what); err == nil { // as a shell completes a directory
			found = find(all, path)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no server is %q; lamplighter status lists them", what)
	case 1:
		return found[0], nil
	}
	const most = 5
	var list []string
	for i, s := range found {
		if i == most {
			list = append(list, "…")
			break
		}
		var about []string
		if s.State == monitor.StateParked {
			about = append(about, "pid "+pidOf(s.ID)) // that it had
		}
		for _, part := range []string{s.Listed(clientMost), s.Words.Apart} {
			if part != "" {
				about = append(about, part)
			}
		}
		label := s.Label
		if len(about) > 0 {
			label += " (" + strings.Join(about, ", ") + ")"
		}
		list = append(list, label)
	}
	return nil, fmt.Errorf("%d servers are %q: %s; choose one by its pid", len(found), what, strings.Join(list, ", "))
}

// ofClient are the servers that one client has, by its name or ID; capitals, spaces and
// hyphens do not count.
func ofClient(all []*view.Server, client string) (part []*view.Server, err error) {
	plain := func(name string) string {
		return strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(monitor.Clean(name)))
	}
	var known []string
	for _, s := range all {
		for _, name := range clientsOf(s) {
			switch plain(name) {
			case plain(client):
				part = append(part, s)
			default:
				if name = monitor.Clean(name); !slices.Contains(known, name) {
					known = append(known, name)
				}
			}
		}
	}
	if len(part) > 0 {
		return part, nil
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("no server has the client %q", client)
	}
	return nil, fmt.Errorf("no server has the client %q; there are %s", client, strings.Join(known, ", "))
}

// clientsOf are the names of the clients of a server: of one that several have, none,
// because it is not one client's to end.
func clientsOf(s *view.Server) []string {
	switch throughUs := s.SharedBy != nil || s.AloneBecause != nil; {
	case throughUs && len(s.Clients) == 1:
		return []string{s.Clients[0].Name}
	case !throughUs && s.Client != nil && !s.OnPipes:
		return []string{s.Client.Name}
	}
	return nil
}

// many is the number of arguments of a verb that takes any number.
const many = 1 << 20

// scanTime is what a completion may take without the background process: a user waits.
const scanTime = 1500 * time.Millisecond

// completeInstances offers pids and names of the servers that fit, for up to
// most arguments; what is meant by those that stand there is not offered again.
// The servers are those of the background process or, where that does not
// run, of a scan.
func (p *program) completeInstances(most int, fit func(*view.Server) bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := p.glance(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completions(all, args, fit), cobra.ShellCompDirectiveNoFileComp
	}
}

// glance is look for a completion: quick and silent.
func (p *program) glance(ctx context.Context) ([]*view.Server, error) {
	ask, cancel := context.WithTimeout(ctx, p.Limits.Glance)
	defer cancel()
	client, _, err := api.Dial(ask, p.Places().ControlSocket)
	if err == nil {
		defer client.Close()
		var list api.Instances
		if list, err = client.Instances(ask); err == nil {
			return list.Instances, nil
		}
	}
	scan, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	s, err := p.scan(scan)
	if err != nil {
		return nil, err
	}
	return view.All(s), nil
}

// completions lists pids and names, each on one line and without characters
// that could disturb the terminal. Where a name means another server, or
// would be taken for a flag, the pid has to do.
func completions(all []*view.Server, given []string, fit func(*view.Server) bool) []cobra.Completion {
	var list []cobra.Completion
	seen := map[string]bool{}
	for _, what := range given {
		for _, s := range find(all, what) {
			seen[string(s.ID)] = true
		}
	}
	for _, s := range all {
		if seen[string(s.ID)] || !fit(s) {
			continue
		}
		name := s.Name()
		if s.PID != nil {
			list = append(list, cobra.CompletionWithDesc(pidOf(s.ID), name))
		}
		if s.Kind == monitor.KindSerena && s.ProjectName == nil || seen[name] || strings.HasPrefix(name, "-") || !slices.Contains(find(all, name), s) {
			continue
		}
		seen[name] = true
		list = append(list, cobra.CompletionWithDesc(name, view.StateWords(s.State)))
	}
	return list
}
