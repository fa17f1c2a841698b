package rules

import "strings"

// server is a published server. Only names and places are listed that belong to it and
// nothing else: an entry point in the directory where installers put it, or the script
// inside its package. They were taken from the packages' own manifests and from running
// servers.
type server struct {
	name   string
	npm    string // a package, its script, and the commands that it installs
	pip    string // a command of the Python Package Index, whose module is called alike
	images string
}

// published are the servers that need no settings.
var published = []server{
	{name: "filesystem", npm: "@modelcontextprotocol/server-filesystem dist/index.js mcp-server-filesystem", images: "mcp/filesystem"},
	{name: "memory", npm: "@modelcontextprotocol/server-memory dist/index.js mcp-server-memory", images: "mcp/memory"},
	{name: "everything", npm: "@modelcontextprotocol/server-everything dist/index.js mcp-server-everything", images: "mcp/everything"},
	{name: "sequential-thinking", npm: "@modelcontextprotocol/server-sequential-thinking dist/index.js mcp-server-sequential-thinking", images: "mcp/sequentialthinking"},
	{name: "git", pip: "mcp-server-git", images: "mcp/git"},
	{name: "fetch", pip: "mcp-server-fetch", images: "mcp/fetch"},
	{name: "time", pip: "mcp-server-time", images: "mcp/time"},
	{name: "Playwright", npm: "@playwright/mcp cli.js playwright-mcp mcp-server-playwright", images: "mcr.microsoft.com/playwright/mcp mcp/playwright"},
	{name: "GitHub", npm: "@modelcontextprotocol/server-github dist/index.js mcp-server-github", images: "ghcr.io/github/github-mcp-server mcp/github"}, // the first is archived, and still in use
	{name: "context7", npm: "@upstash/context7-mcp dist/index.js context7-mcp", images: "mcp/context7"},
	{name: "chrome-devtools", npm: "chrome-devtools-mcp build/src/bin/chrome-devtools-mcp.js chrome-devtools-mcp"},
	{name: "mcp-remote", npm: "mcp-remote dist/proxy.js mcp-remote"},
	{name: "Supabase", npm: "@supabase/mcp-server-supabase dist/transports/stdio.js mcp-server-supabase"},
	{name: "Notion", npm: "@notionhq/notion-mcp-server bin/cli.mjs notion-mcp-server", images: "mcp/notion"},
	{name: "Figma", npm: "figma-developer-mcp dist/bin.js figma-developer-mcp"},
	{name: "Sentry", npm: "@sentry/mcp-server dist/index.js sentry-mcp"},
	{name: "Brave Search", npm: "@brave/brave-search-mcp-server dist/index.js brave-search-mcp-server"},
	{name: "Brave Search", npm: "@modelcontextprotocol/server-brave-search dist/index.js mcp-server-brave-search"},
}

// builtin returns the rules that need no settings. Several may share a name: the ways
// in which one server is started.
func builtin() []Rule {
	var list []Rule
	for _, s := range published {
		add := func(program string, arguments ...string) {
			list = append(list, Rule{Name: s.name, Program: program, Arguments: arguments})
		}
		// A link in .bin or, globally, in bin; the script in its package, which pnpm and
		// Windows start; or what deno runs.
		if names := strings.Fields(s.npm); len(names) > 0 {
			add("node", names[0]+"/"+names[1])
			add("node", "npm:"+names[0])
			for _, command := range names[2:] {
				add("node", ".bin/"+command)
				add("node", "bin/"+command)
			}
		}
		// An entry point, which on Windows is a program of its own above the interpreter,
		// or a module.
		if s.pip != "" {
			add("python", "bin/"+s.pip)
			add("python", "Scripts/"+s.pip)
			add("python", "-m", strings.ReplaceAll(s.pip, "-", "_"))
			add(s.pip)
		}
		for image := range strings.FieldsSeq(s.images) {
			add("docker", image)
		}
	}
	return append(list,
		Rule{Name: "GitHub", Program: "github-mcp-server", Arguments: []string{"stdio"}},
		// It gives its process this title; index.js was the script before.
		Rule{Name: "chrome-devtools", Program: "node", Arguments: []string{"title:chrome-devtools-mcp"}},
		Rule{Name: "chrome-devtools", Program: "node", Arguments: []string{"chrome-devtools-mcp/build/src/index.js"}},
		Rule{Name: "Docker MCP gateway", Program: "docker-mcp", Arguments: []string{"mcp", "gateway", "run"}},
	)
}
