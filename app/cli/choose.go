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

// lookFor looks, and finds the one instance that the user means.
func (p *program) lookFor(ctx context.Context, what string) (*monitor.Instance, error) {
	v, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	return choose(v.snapshot, what)
}

// choose finds the one instance that the user means.
func choose(s *monitor.Snapshot, what string) (*monitor.Instance, error) {
	found := s.Find(what)
	if len(found) == 0 && (what == "." || what == ".." || strings.ContainsAny(what, `/\`)) {
		if path, err := filepath.Abs(what); err == nil { // as a shell completes a directory
			found = s.Find(path)
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
	alike := &monitor.Snapshot{}
	for _, in := range found {
		alike.Instances = append(alike.Instances, *in)
	}
	for i, s := range view.All(alike) {
		if i == most {
			list = append(list, "…")
			break
		}
		var about []string
		if s.State == monitor.StateParked {
			about = append(about, fmt.Sprintf("pid %d", found[i].Identity.PID)) // that it had
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

// ofClient is the part of a snapshot that one client has, by its name or ID; capitals,
// spaces and hyphens do not count.
func ofClient(s *monitor.Snapshot, client string) (*monitor.Snapshot, error) {
	plain := func(name string) string {
		return strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(monitor.Clean(name)))
	}
	part := *s
	part.Instances = nil
	var known []string
	for i := range s.Instances {
		in := &s.Instances[i]
		for _, name := range clientsOf(in) {
			switch plain(name) {
			case plain(client):
				part.Instances = append(part.Instances, *in)
			default:
				if name = monitor.Clean(name); !slices.Contains(known, name) {
					known = append(known, name)
				}
			}
		}
	}
	if len(part.Instances) > 0 {
		return &part, nil
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("no server has the client %q", client)
	}
	return nil, fmt.Errorf("no server has the client %q; there are %s", client, strings.Join(known, ", "))
}

// clientsOf are the names of the clients of a server: of one that several have, none,
// because it is not one client's to end.
func clientsOf(in *monitor.Instance) []string {
	switch {
	case in.Sharing != nil && len(in.Sharing.Clients) == 1:
		return []string{in.Sharing.Clients[0].Name}
	case in.Sharing == nil && in.Client != nil && !in.OnPipes:
		return []string{in.Client.Name}
	}
	return nil
}

// many is the number of arguments of a verb that takes any number.
const many = 1 << 20

// scanTime is what a completion may take without the background process: a user waits.
const scanTime = 1500 * time.Millisecond

// completeInstances offers pids and names of the instances that fit, for up to
// most arguments; what is meant by those that stand there is not offered again.
// The instances are those of the background process or, where that does not
// run, of a scan.
func (p *program) completeInstances(most int, fit func(*monitor.Instance) bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := p.glance(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completions(s, args, fit), cobra.ShellCompDirectiveNoFileComp
	}
}

// glance is look for a completion: quick and silent.
func (p *program) glance(ctx context.Context) (*monitor.Snapshot, error) {
	ask, cancel := context.WithTimeout(ctx, p.Limits.Glance)
	defer cancel()
	client, _, err := api.Dial(ask, p.Places().ControlSocket)
	if err == nil {
		defer client.Close()
		var list api.Instances
		if list, err = client.Instances(ask); err == nil {
			return view.Decode(list.Instances, time.Now()), nil
		}
	}
	scan, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	return p.scan(scan)
}

// completions lists pids and names, each on one line and without characters
// that could disturb the terminal. Where a name means another instance, or
// would be taken for a flag, the pid has to do.
func completions(s *monitor.Snapshot, given []string, fit func(*monitor.Instance) bool) []cobra.Completion {
	var list []cobra.Completion
	seen := map[string]bool{}
	for _, what := range given {
		for _, in := range s.Find(what) {
			seen[in.ID()] = true
		}
	}
	for i := range s.Instances {
		in := &s.Instances[i]
		if seen[in.ID()] || !fit(in) {
			continue
		}
		if in.State != monitor.StateParked {
			list = append(list, cobra.CompletionWithDesc(strconv.Itoa(in.Identity.PID), in.Name()))
		}
		name := in.Name()
		if in.Kind == monitor.KindSerena && in.ProjectName == "" || seen[name] || strings.HasPrefix(name, "-") || !slices.Contains(s.Find(name), in) {
			continue
		}
		seen[name] = true
		list = append(list, cobra.CompletionWithDesc(name, view.StateWords(in.State)))
	}
	return list
}
