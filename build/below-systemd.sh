# shellcheck shell=bash
# Sourced by the scripts that systemd-user.sh runs: a Serena of the user's, a
# client of it, and how the units stand. tools is .cache of the tree, and connect
# the program that clients run.

export PATH=$tools/venv/bin:$tools/bin:$PATH SERENA_USAGE_REPORTING=false CI=true GOPROXY=off GOFLAGS=-modcacherw

fail() {
  echo "${0##*/}: $*" >&2
  systemctl --user status --no-pager 'lamplighter*' >&2 || true
  journalctl --user --no-pager -n 50 >&2 2>/dev/null || true
  tail -n 60 "$HOME"/.local/state/lamplighter/lamplighter.log >&2 || true
  exit 1
}

# eventually WHAT COMMAND… waits until COMMAND succeeds.
eventually() {
  local what=$1 i
  shift
  for ((i = 0; i < 600; i++)); do
    ! "$@" >/dev/null 2>&1 || return 0
    sleep 0.1
  done
  fail "waited in vain: $what"
}

state_of() { systemctl --user show -p ActiveState --value "$1"; }
pid_of_service() { systemctl --user show -p MainPID --value lamplighter.service; }

# unit_is UNIT STATE
unit_is() { [[ $(state_of "$1") == "$2" ]]; }

# is STATE waits until the service is in that state.
is() { eventually "the service becomes $1" unit_is lamplighter.service "$1"; }

# serena_to_use makes a project, and settings with which Serena is quick.
serena_to_use() {
  mkdir -p "$HOME/.serena" "$HOME/alpha"
  printf 'language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_open_on_launch: false\nprojects: []\n' >"$HOME/.serena/serena_config.yml"
  chmod 600 "$HOME/.serena/serena_config.yml"
  printf 'module alpha\n\ngo 1.26\n' >"$HOME/alpha/go.mod"
  printf 'package main\n\nfunc main() {}\n' >"$HOME/alpha/main.go"
}

# servers are the pids of the servers that run.
servers() { pgrep -u "$UID" -f '^[^ ]*python[^ ]* .*start-mcp-server'; }

# client speaks to the server as R5 says, and leaves.
client() {
  (
    cd "$HOME/alpha"
    coproc shim { "$connect" connect -- serena start-mcp-server --project "$HOME/alpha" --context ide --agent-interface tools; }
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
