# shellcheck shell=bash
# Sourced by build.sh and build/screenshot.sh: starts the three real Serena
# servers of the demo. What is started here, and nothing else, is ended when the
# shell ends.

servers=()       # the pid of each server
server_starts=() # and when it started, because a pid alone may be reused

# started PID prints when a process started, in clock ticks since boot.
started() {
  local stat fields
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
  read -ra fields <<<"${stat##*) }"
  echo "${fields[19]}"
}

# alive PID START
alive() { [[ $(started "$1") == "$2" ]]; }

# tree PID prints "PID START" of a process and of everything below it.
tree() {
  local start children child
  start=$(started "$1") || return 0
  echo "$1 $start"
  { children=$(cat "/proc/$1/task"/*/children); } 2>/dev/null
  for child in $children; do tree "$child"; done
}

# end_tree PID START asks a server to end, waits 5 s, and then kills what is
# left of its tree: over HTTP it may leave its language servers behind.
end_tree() {
  local members pid start
  alive "$1" "$2" || return 0
  members=$(tree "$1")
  # A stopped process takes note of nothing but CONT.
  kill -CONT "$1"
  kill -TERM "$1"
  for _ in {1..50}; do
    alive "$1" "$2" || break
    sleep 0.1
  done
  while read -r pid start; do
    ! alive "$pid" "$start" || kill -KILL "$pid"
  done <<<"$members"
}

end_servers() {
  local i
  for i in "${!servers[@]}"; do
    end_tree "${servers[i]}" "${server_starts[i]}" 2>/dev/null || true
  done
}

# sample_project DIR makes a small Go project.
sample_project() {
  mkdir -p "$1"
  printf 'module example.test/sample\n\ngo 1.24\n' >"$1/go.mod"
  cat >"$1/main.go" <<'GO'
// Command sample greets.
package main

import "fmt"

func main() { fmt.Println(greet("lamp")) }

func greet(name string) string { return "hello, " + name }
GO
}

# serve NAME ARGUMENT… starts a server and waits until it is ready. Its log is
# .cache/demo/NAME.log. (Serena adds the revision of the repository around it to
# its version, which here would be ours.)
serve() {
  local pid log=$demo/$1.log
  shift
  env -u DISPLAY -u WAYLAND_DISPLAY HOME="$demo/home" SERENA_HOME="$demo/home/.serena" CI=true SERENA_USAGE_REPORTING=false \
    GIT_CEILING_DIRECTORIES="$root" PATH="$cache/bin:$PATH" "$cache/venv/bin/serena" start-mcp-server --open-web-dashboard false --agent-interface tools \
    --transport streamable-http --port 0 "$@" </dev/null >"$log" 2>&1 &
  pid=$!
  servers+=("$pid")
  server_starts+=("$(started "$pid")")
  for _ in {1..600}; do
    ! grep -qs 'Uvicorn running on' "$log" || return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  tail -n 20 "$log" >&2
  die "a server of the demo did not start" "see above (all of it: $log)"
}

# start_servers starts a green, a yellow and a third one, for suspend_red. The
# caller sets a trap that calls end_servers.
start_servers() {
  demo=$cache/demo
  rm -rf "$demo"
  mkdir -p "$demo/home"
  sample_project "$demo/street-lamps"
  sample_project "$demo/harbour-lights"
  # One after another: two that start first at once argue about the settings.
  serve green --project "$demo/street-lamps" --context ide
  serve yellow --context desktop-app
  serve red --project "$demo/harbour-lights" --context ide
}

# seen_live PROJECT reads the JSON of status, which is one line, and tells
# whether that project's own object says that it is live.
seen_live() {
  local objects
  objects=$(tr '{' '\n')
  grep "\"project_name\":\"$1\"" <<<"$objects" | grep -q '"state":"live_with_project"'
}

# suspend_red stops the third server when `lamplighter run` has seen it live,
# because a suspended one can no longer tell which dashboard is its own.
suspend_red() {
  local socket=$1 deadline=$((SECONDS + 10))
  until [[ -S $socket ]] && bin/lamplighter status --json 2>/dev/null | seen_live harbour-lights; do
    ((SECONDS < deadline)) || {
      say "lamplighter has not seen harbour-lights live within 10 s; it is suspended now, but its lamp may tell less"
      break
    }
    sleep 0.1
  done
  kill -STOP "${servers[2]}"
}
