#!/usr/bin/env bash
# screenshot.sh DIR TIME FILESYSTEM MEMORY makes the pictures of the documents: the
# demo, and then three clients on one project, on a private desktop and in a browser,
# in a light and a dark theme. The last three are packages of servers. Run it through
# isolated.sh; ./build.sh demo --screenshot DIR does.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache
pictures=${1:?usage: screenshot.sh DIR TIME FILESYSTEM MEMORY}
time_server=${2:?} filesystem_server=${3:?} memory_server=${4:?}
cd "$root"

say() { printf '%s\n' "screenshot.sh: $*"; }

die() {
  printf 'screenshot.sh: %s\n               %s\n' "$1" "$2" >&2
  exit 1
}

# shellcheck source=build/servers.sh
. build/servers.sh

width=1024 height=800 bar=30
log=$cache/demo
runtime=${XDG_RUNTIME_DIR:?screenshot.sh runs through isolated.sh}

# until_true WHAT COMMAND… waits up to 2 min for COMMAND to succeed.
until_true() {
  local what=$1
  shift
  for _ in {1..1200}; do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  die "waited in vain for $what" "look into the logs in $log"
}

# desktop_start starts a display, a session bus and a window manager.
desktop_start() {
  # Displays are numbered in /tmp, which is the whole machine's: Xvfb takes a
  # free one, and has to end before its namespace does, to give it back.
  Xvfb -displayfd 3 -screen 0 "${width}x${height}x24" -nolisten tcp >"$log/xvfb.log" 2>&1 3>"$runtime/display" &
  xvfb=$!
  trap 'kill "$xvfb"; wait "$xvfb" || true' EXIT
  until_true "the display" test -s "$runtime/display"
  DISPLAY=:$(<"$runtime/display")
  DBUS_SESSION_BUS_ADDRESS=unix:path=$runtime/bus
  export DISPLAY DBUS_SESSION_BUS_ADDRESS
  dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" >"$log/bus.log" 2>&1 &
  until_true "the session bus" test -S "$runtime/bus"
  xfwm4 --compositor=off >"$log/xfwm4.log" 2>&1 &
}

# panel_settings lays the panel out: a clock, and the tray at the right end.
panel_settings() {
  local settings=$XDG_CONFIG_HOME/xfce4/xfconf/xfce-perchannel-xml
  mkdir -p "$settings"
  cat >"$settings/xfce4-panel.xml" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="false"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="$bar"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/>
        <value type="int" value="2"/>
        <value type="int" value="3"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="separator">
      <property name="expand" type="bool" value="true"/>
      <property name="style" type="uint" value="0"/>
    </property>
    <property name="plugin-2" type="string" value="clock">
      <property name="mode" type="uint" value="2"/>
      <property name="digital-layout" type="uint" value="3"/>
      <property name="digital-time-font" type="string" value="Sans 10"/>
    </property>
    <property name="plugin-3" type="string" value="systray">
      <property name="square-icons" type="bool" value="true"/>
    </property>
  </property>
</channel>
XML
}

# panel_start …light|…dark
panel_start() {
  local dark=false theme=Adwaita
  [[ $1 == *light ]] || dark=true theme=Adwaita:dark
  xfconf-query -c xfce4-panel -p /panels/dark-mode -s "$dark"
  GTK_THEME=$theme xfce4-panel --disable-wm-check >"$log/panel-$1.log" 2>&1 &
  panel=$!
  until_true "the tray of the panel" owned org.kde.StatusNotifierWatcher
}

panel_end() {
  kill "$panel"
  wait "$panel" 2>/dev/null || true
  until_true "the tray to go" not_owned org.kde.StatusNotifierWatcher
}

not_owned() { ! owned "$1"; }

owned() {
  gdbus call --session -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.NameHasOwner "$1" | grep -q true
}

item_there() {
  gdbus call --session -d org.kde.StatusNotifierWatcher -o /StatusNotifierWatcher \
    -m org.freedesktop.DBus.Properties.Get org.kde.StatusNotifierWatcher RegisteredStatusNotifierItems | grep -q '/'
}

states_there() {
  local json state
  json=$(bin/lamplighter status --json)
  for state in live_with_project live_no_project zombie; do
    grep -q "\"$state\"" <<<"$json" || return 1
  done
}

# menu_window prints the left and the lower edge of the open menu: the only
# window that hangs below the panel.
menu_window() {
  local id name value x y height
  for id in $(xdotool search --onlyvisible --class Wrapper-2.0 2>/dev/null); do
    while IFS='=' read -r name value; do
      case $name in
        X) x=$value ;;
        Y) y=$value ;;
        HEIGHT) height=$value ;;
      esac
    done < <(xdotool getwindowgeometry --shell "$id")
    if ((y >= bar - 2 && height > bar)); then
      echo "$x $((y + height))"
      return
    fi
  done
  return 1
}

# shoot FILE X Y WIDTH HEIGHT
shoot() {
  import -window root -crop "$4x$5+$2+$3" +repage "$pictures/$1"
  say "made $pictures/$1"
}

# take …light|…dark takes the panel alone, and with the menu open.
take() {
  local left bottom margin=24 wallpaper='gradient:#dfe5ec-#c3cdd9'
  [[ $1 == *light ]] || wallpaper='gradient:#2b3442-#161b24'
  # It paints, and then reports a failure whenever the window is the root.
  display -size "${width}x${height}" -window root "$wallpaper" 2>"$log/display.log" || true
  panel_start "$1"
  until_true "the lantern in the tray" item_there
  xdotool mousemove $((width / 4)) $((height - 40))
  # The panel still moves its parts about, and nothing tells when it is done.
  sleep 2
  shoot "panel-$1.png" $((width - 320)) 0 320 $((bar + margin))
  xdotool mousemove $((width - bar / 2)) $((bar / 2)) click 1
  until_true "the menu" menu_window
  xdotool mousemove $((width / 4)) $((height - 40))
  sleep 1
  read -r left bottom < <(menu_window)
  left=$((left > margin ? left - margin : 0))
  shoot "menu-$1.png" "$left" 0 $((width - left)) $((bottom + margin))
  xdotool key Escape
  panel_end
}

# take_page TEST takes the page, with Chromium's own light and dark.
take_page() {
  LAMPLIGHTER_TEST_SOCKET=$runtime/lamplighter/control.sock LAMPLIGHTER_TEST_PICTURES=$pictures \
    go test -tags pictures -count=1 -run "^$1\$" ./app/browsertest >"$log/page.log" 2>&1 ||
    die "the pictures of the page could not be made: $(tail -n 5 "$log/page.log")" "see all of it in $log/page.log"
  local picture
  for picture in "$pictures"/page-*.png; do say "made $picture"; done
}

# run starts lamplighter.
run() {
  bin/lamplighter run &>"$log/lamplighter.log" &
  lamplighter=$!
}

# entry NAME COMMAND ARGUMENT… puts a server into the settings of each client.
codex='' gemini='' inspector=()
entry() {
  local name=$1 command=$2 args
  shift 2
  printf -v args ', "%s"' "$@"
  args="[${args#, }]"
  codex+="[mcp_servers.$name]"$'\n'"command = \"$command\""$'\n'"args = $args"$'\n'"startup_timeout_sec = 120"$'\n'
  gemini+=", \"$name\": {\"command\": \"$command\", \"args\": $args}"
  inspector+=("{\"config\": {\"command\": \"$command\", \"args\": $args}}")
}

# start_clients has Codex, Gemini CLI and MCP Inspector work on one project. No model
# answers the first two, so that they wait with their servers.
start_clients() {
  local server model=http://127.0.0.1:8000 npx=$cache/node/bin/npx project=$demo/street-lamps
  export PATH="$cache/node/bin:$cache/clients/node_modules/.bin:$cache/bin:$PATH"
  # Clients pass on HOME and little else.
  mkdir -p "$HOME/.codex" "$HOME/.gemini" "$HOME/.config/uv" "$project/docs"
  ln -s "$cache/npmrc" "$HOME/.npmrc"
  ln -s "$demo/home/.serena" "$HOME/.serena"
  printf '%s\n' "$(<"$cache/uv.toml")" "cache-dir = \"$cache/uv\"" 'offline = true' 'python-downloads = "never"' >"$HOME/.config/uv/uv.toml"
  entry serena "$cache/venv/bin/serena" start-mcp-server --project "$project" --context ide --open-web-dashboard false
  entry memory "$npx" -y "$memory_server"
  entry time "$cache/venv/bin/uvx" --python 3.11 "$time_server"
  entry source "$npx" -y "$filesystem_server" "$project"
  entry manual "$npx" -y "$filesystem_server" "$project/docs"
  cat >"$HOME/.codex/config.toml" <<TOML
model_provider = "none"
[model_providers.none]
name = "none"
base_url = "$model/v1"
env_key = "OPENAI_API_KEY"
$codex
TOML
  printf '{"mcpServers": {%s}, "security": {"auth": {"selectedType": "gemini-api-key"}}}' "${gemini#, }" >"$HOME/.gemini/settings.json"
  printf '{"%s": "TRUST_FOLDER"}' "$project" >"$HOME/.gemini/trustedFolders.json"
  "$cache/venv/bin/python" -c 'import socket, time; server = socket.create_server(("127.0.0.1", 8000)); time.sleep(3600)' &
  cd "$project"
  OPENAI_API_KEY=x codex exec --skip-git-repo-check hi </dev/null &>"$log/codex.log" &
  GEMINI_API_KEY=x GOOGLE_GEMINI_BASE_URL=$model gemini -p hi </dev/null &>"$log/gemini.log" &
  DANGEROUSLY_OMIT_AUTH=true MCP_AUTO_OPEN_ENABLED=false mcp-inspector --web </dev/null &>"$log/inspector.log" &
  cd "$root"
  until_true "MCP Inspector" curl -sf http://127.0.0.1:6274/api/config
  for server in "${inspector[@]:0:3}"; do
    curl -sf --json "$server" http://127.0.0.1:6274/api/mcp/connect >>"$log/inspector.log"
  done
}

# clients_there also waits until the CPU of each server is known.
clients_there() { [[ $(bin/lamplighter status | grep -c '^live .* %') == 13 ]]; }

# workspaces makes some, as jobs would have left them. The projects become
# repositories of their own first: they lie in ours.
workspaces() {
  local project
  for project in street-lamps harbour-lights; do
    git -C "$demo/$project" init --quiet
    git -C "$demo/$project" add .
    git -C "$demo/$project" -c user.name=Demo -c user.email=demo@example.test commit --quiet --message Begin
  done
  bin/lamplighter workspace create --kind temp --from "$demo/street-lamps" --job fix-login
  bin/lamplighter workspace create --kind hybrid --from "$demo/harbour-lights" --job report
  bin/lamplighter workspace keep report --message "the numbers are right"
  bin/lamplighter workspace create --kind persistent --job notes
}

trap 'say "failed in line $LINENO; the logs are in $log"' ERR
# The processes end with their namespace; so does what the servers left behind.
start_servers
workspaces >"$log/workspaces.log"
panel_settings
desktop_start
# Only who has installed it is welcomed by the page.
bin/lamplighter install --in-place --no-start >"$log/install.log"
run
suspend_red "$runtime/lamplighter/control.sock"
until_true "three lamps of three colours" states_there
take light
take dark
take_page TestPictures

# The second scene, of which the first is no history.
end_servers
kill "$lamplighter"
wait "$lamplighter" || true
export LAMPLIGHTER_STATE_DIR=$HOME/clients
run
start_clients
until_true "thirteen servers of three clients" clients_there
take clients-light
take_page TestPictureOfClients
