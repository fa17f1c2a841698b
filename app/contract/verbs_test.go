//go:build contract && linux

package contract

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// verb is one command line and its exit status with the daemon and without it.
// {alpha} is the pid of the server, {dir} its project, {session} the session
// that was requested last.
type verb struct {
	line          string
	with, without int
	shape         shape // of standard output, also of a failure; "": text, and nothing where it fails
}

// none is the status of a row that is not run, fine and others those of the contract.
const (
	none        = -1
	fine        = 0
	failed      = 1
	usage       = 2
	unreachable = 69
)

const (
	stopped = shape(`{"results": [{"id": "text", "label": "text", "outcome": "=ended|=would_end|=refused|=gone|=failed|=cancelled", "detail": "text", "steps": [` + event1 + `],
		"processes": "number", "freed_bytes": "number", "rule?": "text", "reason?": "text", "because?": "text", "evidence?": ["text"], "error?": "text", "forceable?": "bool"}]}`)
	pins    = shape(`{"results": [{"id": "text", "label": "text", "pinned": "bool", "error?": "text"}]}`)
	clients = shape(`{"clients": [{"id": "text", "name": "text", "running": ["number"], "files": [{"path": "text", "scope": "=user|=project", "exists": "bool",
		"problem": "text", "entries": [` + entry1 + `], "changed": "time?", "backup": "text"}]}]}`)
	changes   = shape(`{"changes": [{}], "running": [{}], "page": "bool", "notes": ["text"]}`)
	diagnosis = shape(`{"ok": "bool", "lines": [{"area": "text", "mark": "=ok|=warn|=broken", "text": "text", "means": "text", "do": "text", "candidate?": {}, "facts?": ["text"], "files?": [{}]}]}`)
	installed = shape(`{"version": "text", "dry_run": "bool", "changes": [{}], "notes": ["text"], "next": "text", "login": ` + login1 + `, "pid": "number?", "error": "text?"}`)

	session   = shape(session1)
	space     = shape(workspace1)
	spaces    = shape(`{"workspaces": [` + workspace1 + `]}`)
	spaceFull = shape(`{` + workspaceMembers + `, "versions": [` + version1 + `]}`)
	kept      = shape(version1)
	diff      = shape(`{"from": "number", "to": "number", "changes": [{}]}`)
	worktrees = shape(`{"worktrees": [` + stale1 + `], "problems": ["text"]}`)
)

var verbs = []verb{
	{"version", fine, fine, ""},
	{"--help", fine, fine, ""},
	{"help logs", fine, fine, ""},
	{"completion bash", fine, fine, ""},
	{"nosuch", usage, usage, ""},
	{"run --idle-shutdown-minutes 0", usage, usage, ""},
	{"run", fine, none, ""},
	{"run --at-login", fine, none, ""},

	{"status", fine, fine, ""},
	{"status --json", fine, fine, instances},
	{"status extra", usage, usage, ""},
	{"open", fine, unreachable, ""},
	{"open alpha", fine, fine, ""},
	{"open {alpha}", fine, fine, ""},
	{"open nosuch", failed, failed, ""},
	{"logs alpha", fine, fine, ""},
	{"logs nosuch", failed, failed, ""},
	{"events", fine, fine, ""},
	{"events --json", fine, fine, event1},
	{"events --since soon", usage, usage, ""},

	{"stop {alpha} --dry-run", fine, fine, ""},
	{"stop {alpha} --dry-run --json", fine, fine, stopped},
	{"stop --all --dry-run --json", fine, fine, stopped},
	{"stop --idle --dry-run --json", fine, unreachable, stopped},
	{"stop --orphans --dry-run --json", fine, unreachable, stopped},
	{"stop --suspected --dry-run --json", fine, fine, stopped},
	{"stop --suspected", fine, fine, ""},
	{"stop --client nosuch", failed, failed, ""},
	{"name nosuch notes", failed, failed, ""},
	{"name {alpha}", usage, usage, ""},
	{"hide {alpha}", failed, failed, ""},
	{"status --by client", fine, fine, ""},
	{"status --by colour", usage, usage, ""},
	{"stop nosuch", failed, failed, ""},
	{"stop --idle --all", usage, usage, ""},
	{"pin {alpha} --json", fine, fine, pins},
	{"stop {alpha} --dry-run --json", failed, failed, stopped},
	{"stop {alpha} --dry-run --force --json", fine, fine, stopped},
	{"unpin alpha --json", fine, fine, pins},

	{"doctor --json", fine, none, diagnosis},
	{"doctor", fine, none, ""},

	{"session request {dir} --json", fine, unreachable, session},
	{"session list --json", fine, unreachable, shape(`{"sessions": [` + session1 + `]}`)},
	{"session list", fine, unreachable, ""},
	{"session release {session} --json", fine, none, `{"status": "=terminated", "session_id": "number"}`},
	{"session release {session}", failed, none, ""},
	{"session request /nonexistent", failed, unreachable, ""},

	{"connect -- serena start-mcp-server", fine, unreachable, ""},

	{"setup --list --json", fine, fine, clients},
	{"setup --dry-run --json", fine, fine, changes},
	{"setup --undo --yes --json", fine, fine, changes},
	{"setup nosuch", usage, usage, ""},
	{"setup --file /nonexistent.json --list", failed, failed, ""},

	{"workspace create --kind temp --job passing --json", fine, fine, space},
	{"workspace show passing --json", fine, fine, spaceFull},
	{"workspace keep passing -m no", failed, failed, ""},
	{"workspace complete passing --json", fine, fine, shape(strings.ReplaceAll(string(outcome), "=archived", "=archived|=removed"))},
	{"workspace show passing", failed, failed, ""},
	{"workspace create --kind persistent --job lasting", fine, fine, ""},
	{"workspace list --json", fine, fine, spaces},
	{"workspace run lasting -- true", fine, fine, ""},
	{"workspace diff lasting", failed, failed, ""},
	{"workspace keep lasting -m one --json", fine, fine, kept},
	{"workspace diff lasting --json", fine, fine, diff},
	{"workspace archive lasting --json", fine, fine, space},
	{"workspace restore lasting --json", fine, fine, space},
	{"workspace restore lasting --version 1 --json", fine, fine, space},
	{"workspace rm lasting", failed, failed, ""},
	{"workspace rm lasting --dry-run --force", fine, fine, ""},
	{"workspace rm lasting --force --json", fine, fine, ""},
	{"workspace scan {dir} --json", fine, fine, worktrees},
	{"workspace scan /nonexistent", failed, failed, ""},
	{"workspace create --kind round --job x", usage, usage, ""},
	{"workspace", usage, usage, ""},

	{"install --dry-run --json", fine, fine, installed},
	{"install --dry-run", fine, fine, ""},
	{"uninstall --dry-run", fine, fine, ""},
}

// help asks a verb for its help.
const help = " --help"

// flags are those of each verb, as its help names them.
var flags = map[string]string{
	"run":                "config web-dashboard-global web-dashboard-global-open-on-launch web-dashboard-global-port idle-shutdown-minutes at-login",
	"status":             "json watch",
	"open":               "",
	"stop":               "idle orphans all force dry-run json",
	"pin":                "json",
	"unpin":              "json",
	"logs":               "follow",
	"events":             "follow json since",
	"doctor":             "json record",
	"session request":    "json server",
	"session release":    "json",
	"session list":       "json",
	"setup":              "list undo dry-run yes file server project no-page json",
	"workspace create":   "kind job from ref in share project cleanup retention serve wait copy json",
	"workspace list":     "json",
	"workspace show":     "json",
	"workspace keep":     "message json",
	"workspace diff":     "json",
	"workspace archive":  "json",
	"workspace restore":  "version json",
	"workspace run":      "confine commit writable",
	"workspace complete": "json",
	"workspace scan":     "json",
	"workspace rm":       "force dry-run json",
	"workspace mcp":      "",
	"install":            "dry-run in-place headless no-login no-start replace verbose json",
	"uninstall":          "purge dry-run yes undo-setup keep-setup force keep-programs",
	"version":            "",
}

func TestVerbs(t *testing.T) {
	rows := slices.Clone(verbs)
	for line := range flags {
		rows = append(rows, verb{line + help, fine, fine, ""}, verb{line + " --nosuch", usage, usage, ""})
	}
	for name, w := range map[string]*world{"with the daemon": home, "without": another(t, "")} {
		t.Run(name, func(t *testing.T) {
			session := ""
			for _, v := range rows {
				want := v.with
				if w != home {
					want = v.without
				}
				if want == none {
					continue
				}
				line := strings.NewReplacer("{alpha}", strconv.Itoa(alpha.pid), "{dir}", alpha.project, "{session}", session).Replace(v.line)
				p := w.run(strings.Fields(line)...)
				p.ends(t, want)
				v.printed(t, want, p.out.String(), p.err.String())
				var one struct {
					ID int `json:"session_id"`
				}
				if json.Unmarshal([]byte(p.out.String()), &one) == nil && one.ID != 0 {
					session = strconv.Itoa(one.ID)
				}
			}
		})
	}
	for _, address := range []string{"http://127.0.0.1:25282/global-dashboard/", "http://127.0.0.1:" + strconv.Itoa(alpha.port) + "/dashboard/"} {
		home.opens(t, address)
	}
}

// opens waits until the browser was asked to open an address.
func (w *world) opens(t *testing.T, address string) {
	t.Helper()
	eventually(t, "the browser opens "+address, func() bool {
		text, _ := os.ReadFile(w.path("opened")) // it may come later
		return strings.Contains(string(text), address)
	})
}

// sentence is what is said of a failure: some words.
var sentence = regexp.MustCompile(`\w+ \w+ \w+`)

// printed checks what holds for all verbs, where nothing is a terminal.
func (v verb) printed(t *testing.T, status int, out, said string) {
	t.Helper()
	if strings.ContainsAny(out+said, "\x1b\r") {
		t.Errorf("%s: signs for a terminal: %q %q", v.line, out, said)
	}
	// What failed of several is told among them.
	if status != fine && !sentence.MatchString(said) && !strings.Contains(out, `"error":"`) {
		t.Errorf("%s: exit status %d without a word: %q %q", v.line, status, out, said)
	}
	for _, name := range strings.Fields(flags[strings.TrimSuffix(v.line, help)]) {
		if strings.HasSuffix(v.line, help) && !regexp.MustCompile(`(?m)^ .*--`+name+`\b`).MatchString(out) {
			t.Errorf("%s has no --%s:\n%s", v.line, name, out)
		}
	}
	switch {
	case v.shape == "" && status != fine && out != "":
		t.Errorf("%s: it failed, and printed %q", v.line, out)
	case v.shape == event1: // a line each
		for line := range strings.Lines(out) {
			v.shape.check(t, v.line, []byte(line))
		}
	case v.shape != "" && (status == fine || out != ""):
		v.shape.check(t, v.line, []byte(out))
	}
}

// Verbs that go on print what there is at once, and an interrupt ends them well.
func TestFollowing(t *testing.T) {
	for line, part := range map[string]string{
		"status --watch --json": `"state":"live_with_project"`,
		"status --watch":        "alpha",
		"events -f --since 1h":  "alpha",
		"logs -f alpha":         "ready",
	} {
		p := home.start(nil, lamplighter(strings.Fields(line)...))
		eventually(t, line+" prints", func() bool { return strings.Contains(p.out.String(), part) })
		_ = p.cmd.Process.Signal(os.Interrupt) // it has ended, if at all, too early: below
		if p.ends(t, fine); p.err.String() != "" {
			t.Errorf("%s: %q", line, p.err.String())
		}
	}
}

// repository makes a repository of git with one commit.
func repository(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = home.project(name)
	for _, args := range []string{"init -q -b main", "config user.name Ada", "config user.email ada@example.com", "add -A", "commit -qm first"} {
		home.start(nil, append([]string{"git", "-C", dir}, strings.Fields(args)...)).ends(t, fine)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a file in it may be written to still
	return dir
}

// The status of a job is that of `workspace run`, and a job of one place knows
// of no other, even in a git hook.
func TestJobs(t *testing.T) {
	from, other := repository(t, "the-jobs"), repository(t, "not-the-jobs")
	home.does(t, fine, "workspace", "create", "--kind", "persistent", "--job", "bound", "--from", from)
	defer home.does(t, fine, "workspace", "rm", "bound", "--force")
	hook := func(c *exec.Cmd) {
		c.Env = append(c.Env, "GIT_DIR="+other+"/.git", "GIT_INDEX_FILE="+other+"/.git/index", "GIT_WORK_TREE="+other, "GIT_PREFIX=sub/", "GIT_OBJECT_DIRECTORY="+other+"/.git/objects", "GIT_COMMON_DIR="+other+"/.git")
	}
	for _, job := range []struct {
		command string
		status  int
		says    string
	}{
		{"exit 7", 7, ""},
		{"kill -TERM $$", 128 + int(syscall.SIGTERM), ""},
		{"exec nosuch-command", 127, ""},
		{"echo $WORKSPACE_JOB $PWD", 0, "bound "},
		{"git rev-parse --show-toplevel", 0, "-bound-"},
		{"touch made && git add made && git -c user.name=Ada -c user.email=ada@example.com commit -qm made && git log --format=%s -1", 0, "made"},
	} {
		p := home.start(hook, lamplighter("workspace", "run", "bound", "--", "sh", "-c", job.command))
		if printed := p.ends(t, job.status); !strings.Contains(printed, job.says) {
			t.Errorf("%s printed %q", job.command, printed)
		}
	}
	for _, dir := range []string{other, from} {
		for args, want := range map[string]string{"log --format=%s": "first\n", "status --porcelain": ""} {
			if got := home.start(nil, append([]string{"git", "-C", dir}, strings.Fields(args)...)).ends(t, fine); got != want {
				t.Errorf("the job has changed %s: %s says %q", dir, args, got)
			}
		}
	}
}

// Assistants have workspaces over MCP on standard input and output.
func TestWorkspaceMCP(t *testing.T) {
	s := home.start(nil, lamplighter("workspace", "mcp"))
	s.greet(t)
	s.say(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	listed := s.answer(t, "1")
	for _, tool := range []string{"create", "list", "show", "diff", "scan", "keep", "archive", "restore", "complete", "remove"} {
		if !strings.Contains(listed, `"name":"workspace_`+tool+`"`) {
			t.Errorf("there is no tool workspace_%s", tool)
		}
	}
	if said := s.call(t, "2", "workspace_list", "{}"); !strings.Contains(said, `"result"`) {
		t.Errorf("workspace_list answers %s", said)
	}
	s.in.Close()
	s.ends(t, fine)
}
