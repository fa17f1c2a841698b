package gitwork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"lamplighter/monitor"
)

const (
	outputLimit = 256 << 20       // bytes of an answer
	errorLimit  = 16 << 10        // bytes of what git says besides
	leaveTime   = 5 * time.Second // for git to take back what it has begun
)

// git is a place for git to work at.
type git struct {
	dir      string // of the process; the repository is looked for from here on when admin is ""
	admin    string // of the repository
	tree     string // of the working tree; "" where none is needed
	settings []string
	index    string // instead of the repository's own; "" for that
	held     string // see Holding; "" is nothing
}

// common is git without a working tree.
func (r Repo) common() git { return git{dir: r.Common, admin: r.Common, held: r.held} }

// failure is git that ended with a status.
type failure struct {
	command string
	status  int
	says    string
}

func (f *failure) Error() string {
	if f.says == "" {
		return fmt.Sprintf("git %s ended with status %d", f.command, f.status)
	}
	return fmt.Sprintf("git %s ended with status %d: %s", f.command, f.status, monitor.Clean(f.says))
}

// read asks a question. Nothing is written for it, and nothing fetched: git before
// 2.45 knows no other way than to allow no protocol, and of the settings for that
// only the variable stands above those of a repository, see git(1).
func (g git) read(ctx context.Context, args ...string) ([]byte, error) {
	g.settings = append(slices.Clip(g.settings), "protocol.allow=never")
	return g.run(ctx, call{args: args, env: []string{"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"}})
}

// write has git change something.
func (g git) write(ctx context.Context, args ...string) ([]byte, error) {
	return g.run(ctx, call{args: args})
}

// call is one run of git.
type call struct {
	args  []string
	env   []string
	input string
	hear  func(line string) // of what git says besides, as it comes
}

// halfMade is what git says, and gives up, when it comes upon a worktree that
// another git is just making: its file is there and still empty. That is over in a
// moment, and git has taken back what it began itself.
func halfMade(says string) bool {
	return strings.Contains(says, "failed to read") && strings.Contains(says, commondirFile)
}

// How often git is run again then, and when.
const (
	halfMadeTries = 100
	halfMadePause = 20 * time.Millisecond
)

// run runs git and returns what it answers. The error is a *failure when git
// itself says so, and Is the cause of ctx when that has ended.
func (g git) run(ctx context.Context, c call) ([]byte, error) {
	for tries := 1; ; tries++ {
		out, err := g.once(ctx, c)
		var failed *failure
		if !errors.As(err, &failed) || !halfMade(failed.says) || tries == halfMadeTries {
			return out, err
		}
		select {
		case <-time.After(halfMadePause):
		case <-ctx.Done():
			return nil, fmt.Errorf("git %s was given up: %w", c.args[0], context.Cause(ctx))
		}
	}
}

func (g git) once(ctx context.Context, c call) ([]byte, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, g.arguments(program, c.args)...)
	cmd.Dir, cmd.SysProcAttr = g.dir, apart()
	cmd.Env = append(environment(os.Environ()), c.env...)
	if g.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+g.index)
	}
	cmd.Stdin = strings.NewReader(c.input)
	answer, says := bounded{most: outputLimit}, speech{hear: c.hear}
	cmd.Stdout, cmd.Stderr = &answer, &says
	// Asked to end, git removes its locks; Windows knows nothing but force.
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err == nil || errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = leaveTime
	defer hold(g.held, cmd)()
	defer tie(cmd)()
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("git %s was given up: %w", c.args[0], context.Cause(ctx))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, &failure{c.args[0], exit.ExitCode(), says.text()}
	}
	if err != nil {
		return nil, fmt.Errorf("running git %s: %w", c.args[0], err)
	}
	if answer.over {
		return nil, fmt.Errorf("git %s answers more than %d MiB", c.args[0], outputLimit>>20)
	}
	return answer.Bytes(), nil
}

// arguments are those of git for a command: of what a repository names, no hook,
// no monitor of files and no clean-up is run. Its filters of file contents are,
// unless g.settings switch them off, see Repo.Wary. Settings on the command line
// stand above all others, also in submodules.
func (g git) arguments(program string, args []string) []string {
	hooks := os.DevNull
	if runtime.GOOS == "windows" {
		hooks = program // NUL could be a directory of a tree; below a file there is nothing
	}
	all := []string{"--no-pager"}
	if g.admin != "" {
		all = append(all, "--git-dir="+g.admin)
	}
	if g.tree != "" {
		all = append(all, "--work-tree="+g.tree)
	}
	for _, setting := range append([]string{
		"core.fsmonitor=false",
		"core.hooksPath=" + hooks,
		"core.quotePath=false",
		"log.showSignature=false",
		"i18n.logOutputEncoding=UTF-8",
		"advice.detachedHead=false",
		"submodule.recurse=false",
		"gc.auto=0",
		"maintenance.auto=false",
	}, g.settings...) {
		all = append(all, "-c", setting)
	}
	return append(all, args...)
}

// Bindings are the variables that bind git to a repository, an index, a working
// tree or a part of one, and to settings for that one: those that git rev-parse
// --local-env-vars lists, and what a namespace and a push that is not accepted yet
// set besides. Git sets them for what it runs, such as hooks.
var Bindings = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR",
	"GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_INTERNAL_TOPLEVEL_WORK_TREE",
	"GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}

// environment is ours without what would lead git elsewhere, such as where we
// are run from a hook. Where git and its settings are stays.
func environment(ours []string) []string {
	var env []string
	for _, entry := range ours {
		name, _, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		stays := slices.Contains([]string{"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}, name)
		if strings.HasPrefix(name, "GIT_") && !stays || name == "LC_ALL" || name == "LANGUAGE" {
			continue
		}
		env = append(env, entry)
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "LC_ALL=C")
}

// line is an answer of one line. A path may have line ends of its own.
func line(out []byte) string { return strings.TrimSuffix(string(out), "\n") }

// bounded keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.Len(); len(p) > room {
		b.over = true
		b.Buffer.Write(p[:room])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// speech is what git says besides its answer: lines that end, or are written
// over. The last ones are kept, but for the progress.
type speech struct {
	hear func(string)
	part []byte
	kept []byte
}

func (s *speech) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			s.part = append(s.part, rest[:min(len(rest), max(0, errorLimit-len(s.part)))]...)
			break
		}
		s.part = append(s.part, rest[:min(end, max(0, errorLimit-len(s.part)))]...)
		s.said()
		rest = rest[end+1:]
	}
	return len(p), nil
}

// said takes a line that is whole.
func (s *speech) said() {
	text := string(s.part)
	s.part = s.part[:0]
	if _, _, ok := updated(text); ok {
		if s.hear != nil {
			s.hear(text)
		}
		return
	}
	s.kept = append(append(s.kept, text...), '\n')
	if over := len(s.kept) - errorLimit; over > 0 {
		s.kept = slices.Delete(s.kept, 0, over)
	}
}

func (s *speech) text() string {
	s.said()
	return strings.TrimSpace(string(s.kept))
}
