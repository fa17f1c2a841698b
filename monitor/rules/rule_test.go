package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

func TestBuiltinRulesAreValid(t *testing.T) {
	for _, r := range builtin() {
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestCheck(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, test := range map[string]struct {
		rule  Rule
		field string
		want  string // part of the error; empty: none
	}{
		"script":                {Rule{Name: "a", Program: "node", Arguments: []string{"notes/dist/index.js"}}, "", ""},
		"script by its name":    {Rule{Name: "a", Program: "python", Arguments: []string{"acme_server.py"}}, "", ""},
		"native":                {Rule{Name: "a", Program: "acme", Arguments: []string{"mcp"}}, "", ""},
		"native with mcp":       {Rule{Name: "a", Program: "acme-mcp"}, "", ""},
		"native with its place": {Rule{Name: "a", Program: "/opt/acme/bin/acme"}, "", ""},
		"disabled":              {Rule{Name: "Playwright", Disabled: true}, "", ""},
		"version in its name":   {Rule{Name: "a", Program: "acme-tool-2", Arguments: []string{"mcp"}}, "", ""},
		"common directory too":  {Rule{Name: "a", Program: "node", Arguments: []string{"acme/dist/index.js"}}, "", ""},
		"module in a framework": {Rule{Name: "a", Program: "python", Arguments: []string{"-m", "uvicorn", "acme:app"}}, "", ""},
		"for a suite":           {Rule{Name: "a", Program: "gnome-calendar-mcp"}, "", ""},
		"subcommand":            {Rule{Name: "a", Program: "gopls", Arguments: []string{"mcp"}}, "", ""},
		"own script for ruby":   {Rule{Name: "a", Program: "ruby", Arguments: []string{"acme/server.rb"}}, "", ""},
		"image":                 {Rule{Name: "a", Program: "docker", Arguments: []string{"mcp/docker"}}, "", ""},

		// the examples for users
		"README: notes":   {Rule{Name: "notes", Program: "node", Arguments: []string{"my-notes/dist/index.js"}}, "", ""},
		"README: acme":    {Rule{Name: "acme", Program: "python", Arguments: []string{"-m", "acme_server"}}, "", ""},
		"README: tickets": {Rule{Name: "tickets", Program: "docker", Arguments: []string{"ghcr.io/acme/tickets-mcp"}}, "", ""},
		"README: ledger":  {Rule{Name: "ledger", Program: "ledger-tool", Arguments: []string{"mcp", "serve"}}, "", ""},

		"no name":            {Rule{Program: "acme-mcp"}, "", "has no name"},
		"Serena":             {Rule{Name: "SERENA", Program: "acme-mcp"}, "name", "recognised without a rule"},
		"escape":             {Rule{Name: "a\x1b[1m", Program: "acme-mcp"}, "name", "cannot be shown"},
		"space":              {Rule{Name: " a", Program: "acme-mcp"}, "name", "cannot be shown"},
		"not UTF-8":          {Rule{Name: "a\xff", Program: "acme-mcp"}, "name", "cannot be shown"},
		"long name":          {Rule{Name: long, Program: "acme-mcp"}, "name", "longer than 40 columns"},
		"no program":         {Rule{Name: "a"}, "", "has no program"},
		"any program":        {Rule{Name: "a", Program: "acme-*", Arguments: []string{"mcp"}}, "program", "a wildcard"},
		"any script":         {Rule{Name: "a", Program: "node", Arguments: []string{"my-notes/*.js"}}, "arguments", "a wildcard"},
		"any letter":         {Rule{Name: "a", Program: "python", Arguments: []string{"-m", "acme_server", "serv?"}}, "arguments", `"serv?" holds a wildcard (*, ? or [), of which a rule has none`},
		"program not UTF-8":  {Rule{Name: "a", Program: "acme\xff"}, "program", "bytes that are no text"},
		"no word":            {Rule{Name: "a", Program: "acme", Arguments: []string{"-v"}}, "arguments", "such as mcp"},
		"common module":      {Rule{Name: "a", Program: "python", Arguments: []string{"-m", "server"}}, "arguments", "whole name of the module"},
		"empty argument":     {Rule{Name: "a", Program: "node", Arguments: []string{""}}, "arguments", "empty entry"},
		"interpreter alone":  {Rule{Name: "a", Program: "node"}, "", "would match everything that runs in node"},
		"index.js":           {Rule{Name: "a", Program: "node", Arguments: []string{"index.js"}}, "arguments", "such as my-server/index.js"},
		"no module":          {Rule{Name: "a", Program: "python", Arguments: []string{"-m"}}, "arguments", `ends after "-m"`},
		"version":            {Rule{Name: "a", Program: "python3.12", Arguments: []string{"acme"}}, "program", "every version"},
		"podman":             {Rule{Name: "a", Program: "podman", Arguments: []string{"acme"}}, "program", "every version"},
		"launcher":           {Rule{Name: "a", Program: "npx", Arguments: []string{"acme-mcp"}}, "program", "only starts other programs"},
		"shell":              {Rule{Name: "a", Program: "/bin/bash", Arguments: []string{"-c", "acme"}}, "program", "only starts other programs"},
		"shell with ending":  {Rule{Name: "a", Program: "cmd.exe", Arguments: []string{"acme"}}, "program", "only starts other programs"},
		"program alone":      {Rule{Name: "a", Program: "acme"}, "", "names a program alone"},
		"editor alone":       {Rule{Name: "a", Program: "code"}, "program", "what is never taken for a server"},
		"desktop, literal":   {Rule{Name: "a", Program: "gnome-shell", Arguments: []string{"serve"}}, "program", "what is never taken"},
		"browser":            {Rule{Name: "a", Program: "/opt/acme/firefox-esr"}, "program", "what is never taken"},
		"assistant":          {Rule{Name: "a", Program: "claude", Arguments: []string{"mcp", "serve"}}, "program", "what is never taken"},
		"test runner":        {Rule{Name: "a", Program: "python", Arguments: []string{"pytest"}}, "arguments", "what is never taken for a server"},
		"test module":        {Rule{Name: "a", Program: "python", Arguments: []string{"-m", "pytest.__main__"}}, "arguments", "what is never taken"},
		"jest":               {Rule{Name: "a", Program: "node", Arguments: []string{"acme/node_modules/jest/bin/jest.js"}}, "arguments", "what is never taken"},
		"package of one":     {Rule{Name: "a", Program: "node", Arguments: []string{"npm:@openai/codex"}}, "arguments", "what is never taken"},
		"launcher as script": {Rule{Name: "a", Program: "node", Arguments: []string{"npm/bin/npx-cli.js"}}, "arguments", "what is never taken"},
		"common directory":   {Rule{Name: "a", Program: "node", Arguments: []string{"projects/server.js"}}, "arguments", "such as my-server/projects/server.js"},
		"system's directory": {Rule{Name: "a", Program: "/usr/bin/acme"}, "", "names a program alone"},
		"another module":     {Rule{Name: "a", Program: "python", Arguments: []string{"-m", "uvicorn"}}, "arguments", "such as acme:app"},
		"language server":    {Rule{Name: "a", Program: "gopls", Arguments: []string{"serve"}}, "program", "such as mcp"},
		"base image":         {Rule{Name: "a", Program: "docker", Arguments: []string{"postgres"}}, "arguments", "what others run too"},
		"script for ruby":    {Rule{Name: "a", Program: "ruby", Arguments: []string{"server.rb"}}, "arguments", "my-server/server.rb"},
		"mcp for ruby":       {Rule{Name: "a", Program: "ruby", Arguments: []string{"server.rb", "mcp"}}, "arguments", "my-server/server.rb"},
		"disabled, unknown":  {Rule{Name: "gti", Disabled: true}, "name", "there are Brave Search, Docker MCP gateway, Figma"},
		"disabled with rest": {Rule{Name: "git", Disabled: true, Program: "x"}, "disabled", "nothing but a name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.rule.Check()
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var field *FieldError
			if !errors.As(err, &field) || field.Field() != test.field || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v (field %+v), want %q of %q", err, field, test.want, test.field)
			}
		})
	}
}

var somePrograms = []string{"", "node", "python", "docker", "java", "acme-mcp", "acme", "bash", "npx", "bin/acme", "C:\\x\\y.exe"}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "-", "--", "-i", "-m", "-c", "-e", "-it", "-jar", "run", "x", "exec", "--name", "--rm", "mcp/fetch", "/v/bin/mcp-server-git", "mcp_server_git",
		"npm:mcp-remote", "title:x", ".bin/mcp-remote", "stdio", "[", "]", "*", "\\", "/", "node", "npm exec x", "'", "$(", "&&", ";", "|",
	}))
}

func anyExe() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", nodeExe, pyExe, docker, "/b/bun", "/b/deno", "/b/uv", "/bin/dash", "/b/github-mcp-server", `C:\Windows\System32\cmd.exe`, "/usr/bin/java",
	}))
}

// A rule that Check accepts recognises nothing without its program and nothing
// without its arguments, and no process is a server and a launcher at once.
func TestMatchNeedsBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{
			Name:      "x",
			Program:   rapid.OneOf(rapid.SampledFrom(somePrograms), rapid.String()).Draw(t, "program"),
			Arguments: rapid.SliceOfN(anyText(), 0, 3).Draw(t, "arguments"),
		}
		set := &Set{}
		if rule.Check() == nil {
			set.rules = []compiled{{rule, rule.says()}}
		}
		exe := anyExe().Draw(t, "exe")
		line := rapid.SliceOfN(anyText(), 0, 6).Draw(t, "args")
		if len(line) > 0 && rapid.Bool().Draw(t, "agree") {
			line[0] = exe
		}
		if _, ok := set.Match(exe, line); ok {
			if _, ok := set.Match("", line); ok {
				t.Errorf("%+v matched without an executable", rule)
			}
			if _, ok := set.Match("/usr/bin/sleep", line); ok {
				t.Errorf("%+v matched another executable", rule)
			}
			if _, ok := set.Match(exe, line[:1]); ok && len(rule.Arguments) > 0 && !isTitle(rule) {
				t.Errorf("%+v matched without arguments", rule)
			}
			if _, ok := set.Match(exe, append([]string{"/usr/bin/sleep"}, line[1:]...)); ok {
				t.Errorf("%+v matched another argv[0]", rule)
			}
		}
		if _, ok := New(nil).Match(exe, line); ok && command.IsLauncher(exe, line) {
			t.Errorf("%s %q is both", exe, line)
		}
	})
}

// bystanderLines are the command lines that no rule may match.
func bystanderLines() (list [][]string) {
	for line := range strings.Lines(bystanders) {
		if words := strings.Fields(line); len(words) > 0 {
			list = append(list, words)
		}
	}
	return list
}

func exeOf(args []string) string {
	if strings.Contains(args[0], "/") {
		return args[0]
	}
	return "/usr/bin/" + args[0]
}

// TestBystandersAreReadable: each is a command line that rules could match, or
// it keeps nobody from anything.
func TestBystandersAreReadable(t *testing.T) {
	for _, line := range bystanderLines() {
		if _, ok := read(exeOf(line), line); !ok {
			t.Errorf("%q", line)
		}
	}
}

// TestNoRuleMatchesBystanders: rules made from their own words are refused or match
// none of them.
func TestNoRuleMatchesBystanders(t *testing.T) {
	lines := bystanderLines()
	for _, line := range lines {
		if name, ok := New(nil).Match(exeOf(line), line); ok {
			t.Errorf("%q is %s", line, name)
		}
	}
	part := func(t *rapid.T, s, label string) string {
		if i := strings.LastIndex(s, "/"); i >= 0 && rapid.Bool().Draw(t, label+" without directory") {
			s = s[i+1:]
		}
		if rapid.Bool().Draw(t, label+" cut") {
			s = s[rapid.IntRange(0, len(s)).Draw(t, "from"):]
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom(lines).Draw(t, "made from")
		rule := Rule{Name: "x"}
		switch command.RuntimeOf(monitor.ProgramName(words[0])) {
		case command.Python:
			rule.Program = "python"
		case 0:
			rule.Program = part(t, words[0], "program")
		default:
			rule.Program = words[0]
		}
		for _, w := range words[1:] {
			if a := part(t, w, "argument"); a != "" {
				rule.Arguments = append(rule.Arguments, a)
			}
		}
		if n := rapid.IntRange(0, len(rule.Arguments)).Draw(t, "arguments left out"); n > 0 {
			rule.Arguments = rule.Arguments[n:]
		}
		set := New([]Rule{rule})
		for _, line := range lines {
			if name, ok := set.Match(exeOf(line), line); ok {
				t.Fatalf("%+v: %q is %s", rule, line, name)
			}
		}
	})
}

// TestGuardedWhateverARuleSays: not even a rule that Check has not seen takes an
// editor, a test runner or an assistant for a server, wherever it lies and
// whatever its arguments are.
func TestGuardedWhateverARuleSays(t *testing.T) {
	if p, ok := read("/w/acme", []string{"acme"}); !ok || p.guarded() {
		t.Fatal("everything is guarded")
	}
	refuse := func(exe string, args ...string) {
		t.Helper()
		if p, ok := read(exe, args); ok && !p.guarded() {
			t.Errorf("%s %q is taken for a server", exe, args)
		}
	}
	for _, p := range strings.Fields(`gnome-shell gnome-terminal-server plasmashell kwin_wayland firefox firefox-esr chrome google-chrome-stable
		emacs-29.1 vim.basic xfce4-session bash zsh fish tmux nu code vim hx konsole xterm terminator xonsh sshd thunderbird slack lamplighter
		sway claude claude-desktop codex gemini aider chatgpt pytest vitest git rg tail postgres nginx dockerd npx uvx cmd pwsh make`) {
		for _, dir := range []string{"/usr/bin/", "/opt/acme-mcp/bin/", `C:\Acme\`} {
			refuse(dir+p, dir+p)
			refuse(dir+p+".exe", p, "acme-mcp", "serve")
		}
		refuse("/w/acme-mcp", p)
	}
	for _, s := range strings.Fields(`pytest jest vitest tox claude codex gemini opencode xonsh terminator lamplighter @anthropic-ai/claude-code @anthropic-ai/claude-agent-sdk
		@openai/codex @google/gemini-cli opencode-ai next tsc tsserver eslint vite nodemon mcp-inspector jdtls debugpy jenkins.war plantuml.jar
		tsx unittest coverage _jb_pytest_runner jest-worker @playwright/test server-main jupyter-lab corepack pip gnome-tweaks npx npm-cli pipx`) {
		refuse(nodeExe, "node", "/w/node_modules/"+s+"/dist/acme-mcp.js")
		refuse(nodeExe, "node", "/w/node_modules/.pnpm/x@1/node_modules/"+s+"/cli.js", "acme-mcp")
		refuse(pyExe, "python3", "/w/lib/python3.11/site-packages/"+s+"/__main__.py")
		refuse("/d/deno", "deno", "run", "npm:"+s+"@1.2.3")
		if !strings.Contains(s, "/") {
			refuse(pyExe, "python3", "/w/bin/"+s, "acme-mcp")
			refuse(pyExe, "python3", "-u", s+".py")
			refuse(nodeExe, "node", "/w/.bin/"+s)
			refuse(nodeExe, s)
		}
		if !strings.ContainsAny(s, "./") {
			refuse(pyExe, "python3", "-m", s, "acme-mcp")
			refuse(pyExe, "python3", "-m", s+".__main__")
		}
	}
}

func isTitle(r Rule) bool { return len(r.Arguments) > 0 && strings.HasPrefix(r.Arguments[0], "title:") }

func TestMentionsNeverMatch(t *testing.T) {
	var mentions []string
	for _, r := range builtin() {
		mentions = append(mentions, append(slices.Clone(r.Arguments), r.Program)...)
	}
	set := New(nil)
	programs := []string{"/usr/bin/vim", "/usr/bin/grep", "/usr/bin/tail", "/usr/bin/git", "/usr/bin/codex", "/usr/share/code/code", "/usr/bin/xterm", "/usr/bin/docker-proxy"}
	rapid.Check(t, func(t *rapid.T) {
		exe := rapid.SampledFrom(programs).Draw(t, "exe")
		line := append([]string{exe}, rapid.SliceOf(rapid.SampledFrom(mentions)).Draw(t, "args")...)
		if name, ok := set.Match(exe, line); ok {
			t.Errorf("%q is %s", line, name)
		}
		line = append([]string{"node", "/home/u/script.js"}, line[1:]...)
		if name, ok := set.Match(nodeExe, line); ok {
			t.Errorf("%q is %s", line, name)
		}
	})
}

func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{nodeExe, "node\x00/w/.bin/mcp-server-memory"},
		{pyExe, "python3\x00-um\x00mcp_server_git"},
		{docker, "docker\x00run\x00-ie\x00A=b\x00mcp/fetch"},
		{"/bin/dash", "sh\x00-c\x00cd /x && exec npx y 2>&1"},
		{`C:\Windows\System32\cmd.exe`, "cmd\x00/d\x00/c\x00\"npx -y x\""},
		{nodeExe, "npm exec x y"},
	} {
		f.Add(seed[0], seed[1])
	}
	user := Rule{Name: "x", Program: "acme-tool", Arguments: []string{"mcp", "serve", "x.js"}}
	if err := user.Check(); err != nil {
		f.Fatal(err)
	}
	set := New([]Rule{user})
	f.Fuzz(func(t *testing.T, exe, line string) {
		args := strings.Split(line, "\x00")
		if name, ok := set.Match(exe, args); ok && (name == "" || command.IsLauncher(exe, args)) {
			t.Errorf("%q %q: %q", exe, args, name)
		}
		_ = Rule{Name: exe, Program: exe, Arguments: args}.Check()
	})
}

func BenchmarkMatch(b *testing.B) {
	set := New(nil)
	for _, c := range [][2]string{
		{"/usr/share/code/code", "/usr/share/code/code|--type=renderer|--lots|--of|--options"},
		{nodeExe, "node|/home/u/.npm/_npx/a3241bba59c344f5/node_modules/.bin/other|x"},
	} {
		line := args(c[1])
		b.Run(fmt.Sprint(len(line)), func(b *testing.B) {
			for b.Loop() {
				set.Match(c[0], line)
			}
		})
	}
}

// The rule that is made for a process matches it, and not its like of another name.
func TestFor(t *testing.T) {
	for _, c := range []struct{ exe, line, want, other string }{
		{nodeExe, "node|/home/u/work/notes.js", "node work/notes.js", "node|/home/u/work/other.js"},
		{pyExe, "python3|/home/u/work/helper.py|--x", "python work/helper.py", "python3|/home/u/play/helper.py"},
		{pyExe, "python3|-m|acme_tools", "python -m acme_tools", "python3|-m|acme_more"},
		{docker, "docker|run|-i|acme/notes:1", "docker acme/notes", "docker|run|-i|acme/more"},
		{nodeExe, "node|/home/anna/notes/build/index.js", "node notes/build/index.js", "node|/home/anna/mail/build/index.js"},
		{"/home/anna/.local/bin/acme", "acme", "anna/.local/bin/acme", "other"},
		{"/opt/acme/notes-server", "notes-server|serve", "acme/notes-server serve", "notes-server|check"},
		{pyExe, "python3|-c|x", "", ""},
		{pyExe, "python3|/srv/notes_mcp[v2].py", "", ""},
		{nodeExe, "node|/srv/notes_server*.js", "", ""},
		{nodeExe, "node|index.js", "", ""},
	} {
		r, err := For(c.exe, args(c.line))
		if got := strings.Join(append([]string{r.Program}, r.Arguments...), " "); (err == nil) != (c.want != "") || err == nil && got != c.want {
			t.Errorf("%s: %q, %v", c.line, got, err)
			continue
		}
		if err != nil {
			continue
		}
		r.Name = "mine"
		if name, ok := New([]Rule{r}).Match(c.exe, args(c.line)); !ok || name != "mine" {
			t.Errorf("%s is not found by its rule", c.line)
		}
		r.Hidden = true
		set := New([]Rule{r})
		if _, ok := set.Match(c.exe, args(c.line)); ok || !set.Hides(c.exe, args(c.line)) || set.Hides(c.exe, args(c.other)) {
			t.Errorf("%s: hidden %v, another %v", c.line, set.Hides(c.exe, args(c.line)), set.Hides(c.exe, args(c.other)))
		}
	}
}
