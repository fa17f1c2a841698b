//go:build unix

package config

import "testing"

func TestWorkspaceDir(t *testing.T) {
	settings, problems := parse([]byte("workspace_dir: /srv/../spaces/\n"))
	if got := settings.Workspaces().Dir; len(problems) > 0 || got != "/spaces" {
		t.Errorf("got %q, %v", got, problems)
	}
}
