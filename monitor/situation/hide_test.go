package situation

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
)

func TestHide(t *testing.T) {
	h := hide{home: "/home/alice", user: "alice"}
	for _, c := range []struct {
		words      bool
		args, want string // separated by |
	}{
		{true, "uvx|--from|git+https://github.com/oraios/serena|serena|start-mcp-server", "uvx|--from|git+https://github.com/oraios/serena|serena|start-mcp-server"},
		{true, "/home/alice/.venv/bin/python|/home/alice/.venv/bin/serena|start-mcp-server|--project|/home/alice/work/alpha", "~/.venv/bin/python|~/.venv/bin/serena|start-mcp-server|--project|~/work/alpha"},
		{true, "python|/home/alicent/x|/home/bob/y|/tmp/run/alice/z|alice", "python|/home/user/x|/home/user/y|/tmp/run/user/z|alice"},
		{true, `C:\Users\Alice B\x`, `C:\Users\user B\x`},
		{true, "node|/srv/x/dist/index.js|--api-key|hunter2|--verbose", "node|/srv/x/dist/index.js|--api-key|REMOVED|--verbose"},
		{true, "node|x.js|--access-token=hunter2|--port=80", "node|x.js|--access-token=REMOVED|--port=80"},
		{true, "docker|run|-i|-e|GITHUB_PERSONAL_ACCESS_TOKEN=hunter2|-e|MODE=x|ghcr.io/github/github-mcp-server", "docker|run|-i|-e|GITHUB_PERSONAL_ACCESS_TOKEN=REMOVED|-e|MODE=REMOVED|ghcr.io/github/github-mcp-server"},
		{true, "mcp-remote|https://me:pw@example.com/sse?key=1|--header|Authorization: Bearer hunter2", "mcp-remote|https://REMOVED@example.com/sse?REMOVED|--header|REMOVED"},
		{true, "mcp-remote|https://mcp.example.com/s/0123456789abcdef0123456789abcdef/mcp#t", "mcp-remote|https://mcp.example.com/s/REMOVED/mcp?REMOVED"},
		{true, "x|Authorization:Bearer|X-Api-Key:hunter2", "x|Authorization:REMOVED|X-Api-Key:REMOVED"},
		{true, "x|--session-name|work|X-Session: a b|--env=MY_SESSION=a|session=b", "x|--session-name|REMOVED|X-Session:REMOVED|--env=MY_SESSION=REMOVED|session=REMOVED"},
		{true, "x|postgresql://u:p@db/main", "x|postgresql://REMOVED@db/main"},
		{true, "x|ghp_0123456789abcdefABCDEF|sk-ant-api03-abcdefghijk|eyJhbGciOiJIUzI1NiJ9.e30.x|AKIAIOSFODNN7EXAMPLE", "x|REMOVED|REMOVED|REMOVED|REMOVED"},
		{true, "x|Zm9vYmFyMTIzNDU2Nzg5MDEyMzQ1|9f86d081884c7d659a2feaa0c55ad015", "x|REMOVED|REMOVED"},
		{true, "x|CorrectHorseBatteryStaple42|--name=CorrectHorseBatteryStaple42|https://h/CorrectHorseBatteryStaple42/x|/srv/CorrectHorseBatteryStaple42/x", "x|REMOVED|--name=REMOVED|https://h/REMOVED/x|/srv/CorrectHorseBatteryStaple42/x"},
		{true, "docker|-e|CONFIG=a\nb", "docker|-e|CONFIG=REMOVED"},
		{true, "x|alice@example.com|git@example.com", "x|REMOVED|git@example.com"},
		{true, "sh|-c|TOKEN=hunter2 npx -y @upstash/context7-mcp --api-key hunter2", "sh|-c|TOKEN=REMOVED npx -y @upstash/context7-mcp --api-key REMOVED"},
		{true, "npm exec mcp-remote https://x.example/y?z=1", "npm exec mcp-remote https://x.example/y?REMOVED"},
		{false, "claude|-p|tell nobody about this|--model|opus", "claude|-p|REMOVED|--model|opus"},
		{true, "chrome-devtools-mcp", "chrome-devtools-mcp"},
		{true, "node|/x/_npx/eea2bd7412d4593b/node_modules/.bin/context7-mcp", "node|/x/_npx/eea2bd7412d4593b/node_modules/.bin/context7-mcp"},
		{true, "java|-cp|/usr/share/java/kotlin-language-server.jar|org.example.MainKt", "java|-cp|/usr/share/java/kotlin-language-server.jar|org.example.MainKt"},
	} {
		got := strings.Join(h.arguments(strings.Split(c.args, "|"), c.words), "|")
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
	}
}

// What is recognised with secrets is recognised without them.
func TestHideKeepsWhatTellsAServer(t *testing.T) {
	h := hide{home: "/home/alice", user: "alice"}
	set := rules.New(nil)
	for _, line := range []string{
		"/usr/bin/python3 /home/alice/.local/bin/serena start-mcp-server --project /home/alice/alpha --context codex",
		"/usr/bin/node /home/alice/.npm/_npx/eea2bd7412d4593b/node_modules/.bin/context7-mcp --api-key ctx7sk-0123456789abcdef",
		"/usr/bin/node /usr/lib/node_modules/mcp-remote/dist/proxy.js https://u:p@example.com/sse --header Authorization:x",
		"/usr/bin/docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN=x ghcr.io/github/github-mcp-server",
		"/home/alice/.cache/uv/archive-v0/Zx81k2jd91Ksja81/bin/python /home/alice/.cache/uv/archive-v0/Zx81k2jd91Ksja81/bin/mcp-server-git --repository /home/alice/r",
	} {
		args := strings.Fields(line)
		hidden := h.arguments(args, true)
		_, was := serena.ParseCommand(args[0], args)
		_, is := serena.ParseCommand(h.path(args[0]), hidden)
		kind, known := set.Match(args[0], args)
		after, still := set.Match(h.path(args[0]), hidden)
		if !was && !known || was != is || known != still || kind != after {
			t.Errorf("%s became %v: %v %v, %q %q", line, hidden, was, is, kind, after)
		}
		if slices.ContainsFunc(hidden, func(a string) bool { return strings.Contains(a, "alice") || strings.Contains(a, "0123456789abcdef") }) {
			t.Errorf("%v", hidden)
		}
	}
}

func TestHideService(t *testing.T) {
	h := hide{home: "/home/alice", user: "alice"}
	for name, want := range map[string]string{
		"": "", "mcp-context7.service": "mcp-context7.service",
		"docker-" + strings.Repeat("ab", 32) + ".scope": "docker-REMOVED.scope", strings.Repeat("cd", 32): "REMOVED",
	} {
		if got := h.service(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
}
