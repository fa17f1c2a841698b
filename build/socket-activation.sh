#!/usr/bin/env bash
# socket-activation.sh PROGRAMS TOOLS
#
# Run by systemd-user.sh: systemd starts lamplighter for the first client that
# connects, and lamplighter ends when nobody has used it for a while. PROGRAMS
# holds the two binaries, TOOLS is .cache of the tree.
set -euo pipefail

programs=$1 tools=$2
export PATH=$tools/venv/bin:$tools/bin:$PATH SERENA_USAGE_REPORTING=false CI=true GOPROXY=off GOFLAGS=-modcacherw

fail() {
  echo "socket-activation.sh: $*" >&2
  systemctl --user status --no-pager lamplighter.socket lamplighter.service >&2 || true
  journalctl --user --no-pager -n 50 >&2 2>/dev/null || true
  cat "$HOME"/.local/state/lamplighter/lamplighter.log >&2 || true
  exit 1
}

# is STATE waits until the service is in that state.
is() {
  local i
  for ((i = 0; i < 600; i++)); do
    [[ $(systemctl --user show -p ActiveState --value lamplighter.service) != "$1" ]] || return 0
    sleep 0.1
  done
  fail "the service does not become $1"
}

mkdir -p "$HOME/.config/systemd/user" "$HOME/.serena" "$HOME/alpha"
printf 'language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_open_on_launch: false\nprojects: []\n' >"$HOME/.serena/serena_config.yml"
chmod 600 "$HOME/.serena/serena_config.yml"
printf 'module alpha\n\ngo 1.26\n' >"$HOME/alpha/go.mod"
printf 'package main\n\nfunc main() {}\n' >"$HOME/alpha/main.go"
cat >"$HOME/.config/systemd/user/lamplighter.socket" <<'UNIT'
[Socket]
ListenStream=%t/lamplighter/share.sock
SocketMode=0600
DirectoryMode=0700

[Install]
WantedBy=sockets.target
UNIT
cat >"$HOME/.config/systemd/user/lamplighter.service" <<UNIT
[Service]
ExecStart=$programs/lamplighter run
KillMode=process
Environment=LAMPLIGHTER_IDLE_SHUTDOWN_SECS=5 PATH=$PATH SERENA_USAGE_REPORTING=false CI=true
UNIT
systemctl --user daemon-reload
systemctl --user start lamplighter.socket
is inactive

# client speaks to the server as R5 says, and leaves.
client() {
  (
    cd "$HOME/alpha"
    coproc shim { "$programs/lamplighter-connect" connect -- serena start-mcp-server --project "$HOME/alpha" --context ide --agent-interface tools; }
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"unit","version":"1"}}}' \
      '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_symbols_overview","arguments":{"relative_path":"main.go"}}}' >&"${shim[1]}"
    local line
    while read -r -t 60 line <&"${shim[0]}"; do
      [[ $line != *'"id":2'* ]] || break
    done
    [[ $line == *Function* ]] || fail "the call was answered: $line"
    # shellcheck disable=SC2154 # coproc sets it
    kill -TERM "$shim_PID"
    wait "$shim_PID" || true
  )
}

client
is active
first=$(systemctl --user show -p MainPID --value lamplighter.service)
is inactive # it has ended by itself
pgrep -u "$UID" -f start-mcp-server >/dev/null && fail "a server is left: $(pgrep -u "$UID" -af start-mcp-server)"
client
is active
second=$(systemctl --user show -p MainPID --value lamplighter.service)
[[ $first != "$second" ]] || fail "it is the same process"

# Killed, it leaves its server to the next one, which the next client starts.
server=$(pgrep -u "$UID" -f '^[^ ]*python[^ ]* .*start-mcp-server')
systemctl --user kill --kill-whom=main --signal=SIGKILL lamplighter.service
client
again=$(pgrep -u "$UID" -f '^[^ ]*python[^ ]* .*start-mcp-server')
[[ -n $server && $server == "$again" ]] || fail "the server is another one: $server, then $again"
is inactive
echo "socket activation: ok"
