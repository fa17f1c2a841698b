package rules

import "testing"

func TestIsLauncher(t *testing.T) {
	for _, c := range []struct {
		want      bool
		exe, line string
	}{
		// recorded
		{true, nodeExe, "npm exec @modelcontextprotocol/server-filesystem /tmp/r||||"},
		{true, nodeExe, "npm x mcp-server-memory"},
		{true, "/usr/bin/dash", "sh|-c|'mcp-server-filesystem' /tmp/r"},
		{true, "/usr/bin/dash", "sh|-c|mcp-server-memory"},
		{true, "/usr/bin/bash", "bash|-lc|npx mcp-server-memory 2>/dev/null; true"},
		{true, "/v/bin/uv", "/v/bin/uv|tool|uvx|mcp-server-git|--repository|/r"},
		{true, "/v/bin/uv", "v/bin/uv|tool|run|mcp-server-fetch"},
		{true, "/b/bun", "bunx|-y|@modelcontextprotocol/server-memory"},
		{true, "/b/bun", "bun|x|--bun|@modelcontextprotocol/server-filesystem|/tmp"},
		{true, "/b/pnpm", "pnpm|dlx|@modelcontextprotocol/server-memory"},
		{true, "/b/pnpm", "pnpm|exec|mcp-server-memory"},
		// Serena's
		{true, "/home/u/.local/bin/uvx", "uvx|--from|serena-agent|serena|start-mcp-server"},
		{true, "/home/u/.local/bin/uv", "uv|run|--directory|/src/serena|serena|start-mcp-server"},
		{true, "/v/bin/uv", "uv|--directory|/src/serena|run|serena|start-mcp-server"},
		{true, "/bin/sh", "/bin/sh|-lc|exec uvx --from serena-agent serena start-mcp-server"},
		// others
		{true, "/usr/bin/node", "node|/usr/bin/npx|-y|x"},
		{true, "/usr/bin/node", "node|/usr/lib/node_modules/npm/bin/npm-cli.js|exec|--|x"},
		{true, "/usr/bin/node", "node|/p/.yarn/releases/yarn-4.5.0.cjs|dlx|x"},
		{true, "/usr/bin/node", "node|/x/pnpm/bin/pnpm.cjs|--dir|/p|dlx|x"},
		{true, "/usr/bin/timeout", "timeout|600|npx|x"},
		{true, "/usr/bin/coreutils", "timeout|600|npx|x"},
		{true, "/usr/bin/python3", "python3|/usr/bin/pipx|run|mcp-server-git"},
		{true, "/usr/bin/python3", "python3|-m|uv|tool|run|x"},
		{true, "/usr/bin/python3", "python3|/home/u/.local/bin/poetry|run|serena|start-mcp-server"},
		{true, "/usr/bin/op", "op|run|--env-file=.env|--|npx|x"},
		{true, "/b/mise", "mise|exec|node@22|--|npx|x"},
		{true, "/usr/bin/bash", "bash|-c|cd /p && source .venv/bin/activate && exec python -m x"},
		{true, "/usr/bin/bash", "bash|-c|export A=b; B=c npx -y x"},
		{true, "/usr/bin/bash", `bash|-c|exec "$@"|--|npx|x`},
		{true, "/usr/bin/zsh", "zsh|-i|-c|cd /p; npx x"},
		{true, "/usr/bin/bash", "bash|-c|. ~/.nvm/nvm.sh && nvm use 22 >/dev/null 2>&1 && npx x"},
		{true, "/bin/busybox", "sh|-c|npx x"},
		{true, `C:\Windows\System32\cmd.exe`, `C:\Windows\system32\cmd.exe|/d|/s|/c|"npx -y @modelcontextprotocol/server-memory"`},
		{true, `C:\Windows\System32\cmd.exe`, `cmd|/c|npx|-y|x`},
		{true, `C:\Windows\System32\cmd.exe`, `cmd.exe|/C|chcp 65001 >nul && C:\n\npx.cmd -y x`},
		{true, `C:\n\node.exe`, `C:\n\node.exe|C:\n\node_modules\npm\bin\npx-cli.js|-y|x`},
		{true, `C:\w\powershell.exe`, `powershell.exe|-NoProfile|-Command|$env:A = 'b'; & "C:\n\npx.cmd" -y x`},
		{true, docker, "docker|compose|-f|x.yml|run|--rm|-T|mcp"},
		{true, docker, "docker|mcp|gateway|run"},

		{false, "", "uvx|x"},
		{false, "/bin/dash", ""},
		{false, "/usr/bin/sleep", "uvx|x"},
		{false, "/usr/bin/vim", "sh|-c|npx x"},
		{false, nodeExe, "npm exec"},
		{false, nodeExe, "npm run mcp"},
		{false, nodeExe, "npm install x"},
		{false, nodeExe, "npm exec|x"},
		{false, nodeExe, "node|/usr/bin/npm|run|mcp"},
		{false, nodeExe, "node|/w/.bin/mcp-server-memory|npx|x"},
		{false, nodeExe, "claude"},
		{false, "/v/bin/uv", "uv|tool|install|x"},
		{false, "/v/bin/uv", "uv|pip|install|x"},
		{false, "/v/bin/uv", "uv|sync"},
		{false, "/v/bin/uv", "uv|run"},
		{false, "/b/bun", "bun|run|mcp"},
		{false, "/b/bun", "bun|x.ts"},
		{false, "/usr/bin/make", "make|mcp"},
		{false, "/b/pixi", "pixi|run|mcp"},
		{false, "/b/hatch", "hatch|run|mcp"},
		{false, "/usr/bin/tmux", "tmux|new|npx x"},
		{false, "/usr/bin/ssh", "ssh|h|npx x"},
		{false, "/usr/bin/bash", "bash"},
		{false, "/usr/bin/bash", "-bash"},
		{false, "/usr/bin/bash", "bash|-i"},
		{false, "/usr/bin/bash", "bash|/home/u/serena-loop.sh"},
		{false, "/usr/bin/bash", "bash|--rcfile|x|-c|npx x"},
		{false, "/usr/bin/bash", "bash|-s"},
		{false, "/usr/bin/bash", "bash|-c"},
		{false, "/usr/bin/bash", "bash|-c|"},
		{false, "/usr/bin/bash", "bash|-c|cd /x"},
		{false, "/usr/bin/bash", "bash|-c|npx x; make deploy"},
		{false, "/usr/bin/bash", "bash|-c|npx x && echo done > f"},
		{false, "/usr/bin/bash", "bash|-c|npx x & tail -f log"},
		{false, "/usr/bin/bash", "bash|-c|npx x &"},
		{false, "/usr/bin/bash", "bash|-c|while true; do npx x; done"},
		{false, "/usr/bin/bash", "bash|-c|(npx x)"},
		{false, "/usr/bin/bash", "bash|-c|npx `cat p`"},
		{false, "/usr/bin/bash", `bash|-c|npx "$(cat p)"`},
		{false, "/usr/bin/bash", "bash|-c|npx 'x"},
		{false, "/usr/bin/bash", "bash|-c|npx x <<E\nE"},
		{false, "/usr/bin/bash", "bash|-c|npx x\nmake"},
		{false, "/usr/bin/bash", "bash|-c|eval npx x"},
		{false, "/usr/bin/dash", "sh|-c|trap '' INT TERM HUP\ngroups=' '\nwhile read -r line; do\n :\ndone"},
		{false, `C:\Windows\System32\cmd.exe`, `cmd.exe`},
		{false, `C:\Windows\System32\cmd.exe`, `cmd.exe|/k|npx x`},
		{false, `C:\Windows\System32\cmd.exe`, `cmd.exe|/c|start npx x`},
		{false, `C:\Windows\System32\cmd.exe`, `cmd.exe|/c|npx x & make`},
		{false, `C:\w\powershell.exe`, `powershell.exe|-NoExit|-Command|npx x`},
		{false, `C:\w\powershell.exe`, `powershell.exe|-File|x.ps1`},
		{false, `C:\w\pwsh.exe`, `pwsh|-c|npx x; make`},
		{false, docker, "docker|run|-i|mcp/fetch"},
		{false, docker, "docker|compose|up"},
		{false, docker, "docker|mcp|catalog|ls"},
		{false, docker, "docker|exec|-i|c|npx"},
	} {
		if got := IsLauncher(c.exe, args(c.line)); got != c.want {
			t.Errorf("%s %s: got %v", c.exe, c.line, got)
		}
	}
	if IsLauncher("/bin/bash", []string{"bash", "-c", "cat in | npx x"}) {
		t.Error("a pipe runs more than one command")
	}
	if !IsLauncher("/bin/bash", []string{"bash", "-c", "cd /p || exit 1; npx x || true"}) {
		t.Error("nothing but an end follows")
	}
}
