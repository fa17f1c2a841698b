package rules

import "slices"

// builtin returns the rules that need no settings. Several may share a name:
// the ways in which one server is started. Only names and places are listed
// that belong to the published server and nothing else: an entry point in the
// directory where installers put it, or the script inside its package. They
// were taken from the packages' own manifests and from running servers.
func builtin() []Rule {
	return slices.Concat(
		reference("filesystem", "filesystem"),
		image("filesystem", "mcp/filesystem"),
		reference("memory", "memory"),
		image("memory", "mcp/memory"),
		reference("everything", "everything"),
		image("everything", "mcp/everything"),
		reference("sequential-thinking", "sequential-thinking"),
		image("sequential-thinking", "mcp/sequentialthinking"),
		pip("git", "mcp-server-git", "mcp_server_git"),
		image("git", "mcp/git"),
		pip("fetch", "mcp-server-fetch", "mcp_server_fetch"),
		image("fetch", "mcp/fetch"),
		pip("time", "mcp-server-time", "mcp_server_time"),
		image("time", "mcp/time"),

		npm("Playwright", "@playwright/mcp", "cli.js", "playwright-mcp", "mcp-server-playwright"),
		image("Playwright", "mcr.microsoft.com/playwright/mcp"),
		image("Playwright", "mcp/playwright"),
		[]Rule{{Name: "GitHub", Program: "github-mcp-server", Arguments: []string{"stdio"}}},
		image("GitHub", "ghcr.io/github/github-mcp-server"),
		reference("GitHub", "github"), // archived, still in use
		image("GitHub", "mcp/github"),
		npm("context7", "@upstash/context7-mcp", "dist/index.js", "context7-mcp"),
		image("context7", "mcp/context7"),
		npm("chrome-devtools", "chrome-devtools-mcp", "build/src/bin/chrome-devtools-mcp.js", "chrome-devtools-mcp"),
		// It gives its process this title; index.js was the script before.
		[]Rule{
			{Name: "chrome-devtools", Program: "node", Arguments: []string{"title:chrome-devtools-mcp"}},
			{Name: "chrome-devtools", Program: "node", Arguments: []string{"chrome-devtools-mcp/build/src/index.js"}},
		},
		npm("mcp-remote", "mcp-remote", "dist/proxy.js", "mcp-remote"),
		npm("Supabase", "@supabase/mcp-server-supabase", "dist/transports/stdio.js", "mcp-server-supabase"),
		npm("Notion", "@notionhq/notion-mcp-server", "bin/cli.mjs", "notion-mcp-server"),
		image("Notion", "mcp/notion"),
		npm("Figma", "figma-developer-mcp", "dist/bin.js", "figma-developer-mcp"),
		npm("Sentry", "@sentry/mcp-server", "dist/index.js", "sentry-mcp"),
		npm("Brave Search", "@brave/brave-search-mcp-server", "dist/index.js", "brave-search-mcp-server"),
		reference("Brave Search", "brave-search"),
		[]Rule{{Name: "Docker MCP gateway", Program: "docker-mcp", Arguments: []string{"mcp", "gateway", "run"}}},
	)
}

// npm is a server from the npm registry: installed by npm and the like as a
// link in .bin or, globally, in bin; started as the script in its package,
// which pnpm and Windows do; or run by deno.
func npm(name, pkg, script string, commands ...string) []Rule {
	list := []Rule{
		{Name: name, Program: "node", Arguments: []string{pkg + "/" + script}},
		{Name: name, Program: "node", Arguments: []string{"npm:" + pkg}},
	}
	for _, c := range commands {
		list = append(list,
			Rule{Name: name, Program: "node", Arguments: []string{".bin/" + c}},
			Rule{Name: name, Program: "node", Arguments: []string{"bin/" + c}})
	}
	return list
}

// reference is one of the reference servers of the protocol for node.
func reference(name, short string) []Rule {
	return npm(name, "@modelcontextprotocol/server-"+short, "dist/index.js", "mcp-server-"+short)
}

// pip is a server from the Python Package Index: its entry point, which on
// Windows is a program of its own above the interpreter, or its module.
func pip(name, command, module string) []Rule {
	return []Rule{
		{Name: name, Program: "python", Arguments: []string{"bin/" + command}},
		{Name: name, Program: "python", Arguments: []string{"Scripts/" + command}},
		{Name: name, Program: "python", Arguments: []string{"-m", module}},
		{Name: name, Program: command},
	}
}

func image(name, repository string) []Rule {
	return []Rule{{Name: name, Program: "docker", Arguments: []string{repository}}}
}
