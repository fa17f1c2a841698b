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

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/monitor"
)

// errNoInstance: nothing runs that could be opened.
var errNoInstance = errors.New("no server with a dashboard is running; start your assistant and try again")

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
	// A number may be the pid of one server and the port of another.
	how, handle := "pid", func(in *monitor.Instance) string { return strconv.Itoa(in.Identity.PID) }
	if _, err := strconv.Atoi(what); err == nil {
		how, handle = "id", (*monitor.Instance).ID
	}
	const most = 5
	var list []string
	for i, in := range found {
		if i == most {
			list = append(list, "…")
			break
		}
		label, named := in.Label(), how+" "+handle(in)
		if !strings.HasPrefix(label, named+" ") { // as that of one without a port does
			label += " (" + named + ")"
		}
		list = append(list, label)
	}
	return nil, fmt.Errorf("%d servers are %q: %s; choose one by its %s", len(found), what, strings.Join(list, ", "), how)
}

// newest is the instance that started last and has a dashboard, nil when there
// is none.
func newest(s *monitor.Snapshot) *monitor.Instance {
	var last *monitor.Instance
	for i := range s.Instances {
		in := &s.Instances[i]
		if in.DashboardURL != "" && (last == nil || in.StartedAt.After(last.StartedAt)) {
			last = in
		}
	}
	return last
}

// many is the number of arguments of a verb that takes any number.
const many = 1 << 20

// The time that a completion may take: a user waits for it.
const (
	askTime  = 500 * time.Millisecond // to ask the background process
	scanTime = 1500 * time.Millisecond
)

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
	ask, cancel := context.WithTimeout(ctx, p.askTime)
	defer cancel()
	client, _, err := api.Dial(ask, p.places().ControlSocket)
	if err == nil {
		defer client.Close()
		var list api.Instances
		if list, err = client.Instances(ask); err == nil {
			return api.Decode(list, time.Now()), nil
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
			list = append(list, cobra.CompletionWithDesc(strconv.Itoa(in.Identity.PID), in.Label()))
		}
		name := in.Name()
		if in.Kind == monitor.KindSerena && in.ProjectName == "" || seen[name] || strings.HasPrefix(name, "-") || !slices.Contains(s.Find(name), in) {
			continue
		}
		seen[name] = true
		list = append(list, cobra.CompletionWithDesc(name, stateWord(in)))
	}
	return list
}
