package workspace

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/monitor/statefile"
)

// callersPlace are the variables that name the directory or the project of
// whoever starts a job: of shells, of npm and Yarn, and of Claude Code.
var callersPlace = []string{"PWD", "OLDPWD", "INIT_CWD", "PROJECT_CWD", "CLAUDE_PROJECT_DIR"}

// inherited is what a job in a tree gets of our own environment: nothing that binds
// a tool to the place that we were started in, such as a git hook of another
// repository.
func inherited(ours []string, tree string) []string {
	env := slices.DeleteFunc(slices.Clone(ours), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		return slices.Contains(gitwork.Bindings, name) || slices.Contains(callersPlace, name)
	})
	return append(env, "PWD="+tree)
}

// tempDir is TMPDIR of a workspace's jobs.
func (m *Manager) tempDir(id string) string { return m.store.path(dataDir, id, "tmp") }

// envFile is where a workspace's environment is written down.
func (m *Manager) envFile(id string) string { return m.store.path(dataDir, id, "env") }

// environment is what a workspace's jobs have in their environment, NAME=VALUE
// each, besides that of whoever starts them.
func (m *Manager) environment(r *record) []string {
	temp := m.tempDir(r.ID)
	return []string{
		"WORKSPACE=" + r.Path,
		"WORKSPACE_ID=" + r.ID,
		"WORKSPACE_JOB=" + r.Job,
		"WORKSPACE_NAME=" + r.Name,
		"TMPDIR=" + temp,
		"TMP=" + temp,
		"TEMP=" + temp,
	}
}

// writeEnv makes the directory for temporary files, and writes the environment
// into a file that a shell can read.
func (m *Manager) writeEnv(r *record) error {
	if err := os.MkdirAll(m.tempDir(r.ID), 0o700); err != nil {
		return fmt.Errorf("making the directory for temporary files of a workspace: %w", err)
	}
	if err := statefile.Replace(m.envFile(r.ID), envText(r.Name, m.environment(r))); err != nil {
		return fmt.Errorf("writing down the environment of a workspace: %w", err)
	}
	return nil
}

// envText is an environment as sh reads it. Single quotes keep everything as it
// is but themselves. The shell may be one that git has bound to another place.
func envText(name string, environment []string) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "# The environment of jobs in %s. In a shell: . FILE\n", name)
	fmt.Fprintf(&text, "unset %s\n", strings.Join(gitwork.Bindings, " "))
	for _, entry := range environment {
		key, value, _ := strings.Cut(entry, "=")
		fmt.Fprintf(&text, "export %s='%s'\n", key, strings.ReplaceAll(value, "'", `'\''`))
	}
	return text.Bytes()
}
