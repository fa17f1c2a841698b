#!/usr/bin/env bash
# installed.sh PROGRAMS NEWER TOOLS
#
# Run by systemd-user.sh: lamplighter is installed as a user does it, starts with
# a desktop, is killed, quits, is upgraded and taken away. PROGRAMS and NEWER
# hold the two binaries of two versions and bear their names, TOOLS is .cache of
# the tree.
set -euo pipefail

programs=$1 newer=$2 tools=$3
connect=$HOME/.local/bin/lamplighter-connect
# shellcheck source=build/below-systemd.sh
. "$(dirname "$0")/below-systemd.sh"

units=$HOME/.config/systemd/user
installed=$HOME/.local/bin/lamplighter
state=$HOME/.local/state/lamplighter

step() { printf 'installed: %s\n' "$*"; }

# does ARGUMENT… runs a verb of the installed program, or of $program.
does() { "${program:-$installed}" "$@" >"$HOME/said.log" 2>&1 || fail "lamplighter $*: $(<"$HOME/said.log")"; }

# refuses TEXT ARGUMENT… runs a verb that has to fail and to say TEXT.
refuses() {
  local text=$1
  shift
  ! "${program:-$installed}" "$@" >"$HOME/said.log" 2>&1 || fail "lamplighter $*: succeeded: $(<"$HOME/said.log")"
  grep -qF -- "$text" "$HOME/said.log" || fail "lamplighter $*: $(<"$HOME/said.log")"
}

# files are all that the user has, but for what other programs write.
files() {
  (cd "$HOME" && find . -mindepth 1 ! -type d ! -name '*.log' ! -path './.cache/*' ! -path './.config/xfce4/*' ! -path './.config/dconf/*' \
    ! -path './.local/share/gvfs-metadata/*' ! -path './.serena/*' ! -path './alpha/*' ! -path './go/*' ! -path './.config/go/*' | LC_ALL=C sort)
}

version_running() { curl -sS --max-time 5 --unix-socket "$XDG_RUNTIME_DIR/lamplighter/control.sock" http://localhost/health; }
runs_version() { version_running | grep -qF "\"version\":\"$1\""; }
watcher() { gdbus call --session -d org.kde.StatusNotifierWatcher -o /StatusNotifierWatcher "$@"; }
panel_there() { gdbus call --session -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.NameHasOwner org.kde.StatusNotifierWatcher | grep -q true; }

# icon prints the bus name of the icon that the panel has from the service.
icon() {
  local item pid
  pid=$(pid_of_service)
  for item in $(watcher -m org.freedesktop.DBus.Properties.Get org.kde.StatusNotifierWatcher RegisteredStatusNotifierItems | grep -o "org.kde.StatusNotifierItem[^/']*\|:[0-9.]*"); do
    [[ $(gdbus call --session -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.GetConnectionUnixProcessID "$item" 2>/dev/null) != "(uint32 $pid,)" ]] ||
      { printf '%s\n' "$item" && return; }
  done
  return 1
}
no_item() { ! watcher -m org.freedesktop.DBus.Properties.Get org.kde.StatusNotifierWatcher RegisteredStatusNotifierItems | grep -q '/'; }

# only_service: nothing but the service runs of ours.
only_service() { [[ $(pgrep -u "$UID" -x lamplighter) == "$(pid_of_service)" ]]; }
another_service() { ! unit_is lamplighter.service inactive && (($(pid_of_service) != 0 && $(pid_of_service) != first)); }
no_servers() { ! servers; }

menu() { gdbus call --session -d "$(icon)" -o /StatusNotifierItem/menu -m "com.canonical.dbusmenu.$1" "${@:2}"; }
layout() { menu GetLayout 0 -- -1 '[]' >"$HOME/layout.log"; }

# menu_quit clicks on Quit in the menu.
menu_quit() {
  local id
  eventually "the menu" layout
  id=$("$tools/venv/bin/python" -c 'import re, sys; print(re.findall(r"\((\d+), \{[^{}]*Quit Lamplighter", sys.stdin.read())[-1])' <"$HOME/layout.log") ||
    fail "there is no Quit in the menu: $(head -c 2000 "$HOME/layout.log")"
  menu Event "$id" clicked '<"">' 0 >/dev/null
}

# stays connects a client that stays until leaves, and asks ID has it call a tool.
stays() {
  mkfifo "$HOME/asks.log"
  (cd "$HOME/alpha" && exec "$connect" connect -- serena start-mcp-server --project "$HOME/alpha" --context ide --agent-interface tools) \
    <"$HOME/asks.log" >"$HOME/told.log" 2>"$HOME/stays.log" &
  staying=$!
  exec 4>"$HOME/asks.log"
  printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"stays","version":"1"}}}' \
    '{"jsonrpc":"2.0","method":"notifications/initialized"}' >&4
}
answered() { grep "\"id\":$1[,}]" "$HOME/told.log" | grep -q Function; }
asks() {
  printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"get_symbols_overview","arguments":{"relative_path":"main.go"}}}\n' "$1" >&4
  eventually "the client that stays is answered ($1): $(tail -n 3 "$HOME/stays.log")" answered "$1"
}
leaves() {
  exec 4>&-
  kill -TERM "$staying" 2>/dev/null || true
  wait "$staying" || true
  rm "$HOME/asks.log"
}

# A desktop: a display, a session target as desktops have it, and a panel.
mkdir -p "$units" "$HOME/.config/xfce4/xfconf/xfce-perchannel-xml"
cat >"$HOME/.config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="size" type="uint" value="30"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray"/>
  </property>
</channel>
XML
printf '[Unit]\nBindsTo=graphical-session.target\nAfter=graphical-session.target\n' >"$units/desktop-session.target"
systemctl --user daemon-reload
Xvfb -displayfd 3 -screen 0 1024x700x24 -nolisten tcp >"$HOME/xvfb.log" 2>&1 3>"$HOME/display.log" &
eventually "the display" test -s "$HOME/display.log"
DISPLAY=:$(<"$HOME/display.log")
export DISPLAY
systemctl --user set-environment "DISPLAY=$DISPLAY" "PATH=$PATH" SERENA_USAGE_REPORTING=false CI=true
xfce4-panel --disable-wm-check >"$HOME/panel.log" 2>&1 &
eventually "the panel" panel_there
serena_to_use
before=$(files)
program=$programs/lamplighter

step "a dry run names everything and changes nothing"
does install --dry-run
for part in "$installed" "$connect" "$units/lamplighter.service" "$units/lamplighter.socket" "$HOME/.config/autostart/lamplighter.desktop" daemon-reload; do
  grep -qF -- "$part" "$HOME/said.log" || fail "the dry run does not name $part: $(<"$HOME/said.log")"
done
[[ $(files) == "$before" ]] || fail "the dry run has changed: $(diff <(echo "$before") <(files))"

step "a unit of that name by somebody else stays"
printf '[Service]\nExecStart=/bin/true\n' >"$units/lamplighter.service"
with_unit=$(files)
refuses "$units/lamplighter.service" install
[[ $(files) == "$with_unit" && $(<"$units/lamplighter.service") == *ExecStart=/bin/true ]] || fail "it was changed: $(diff <(echo "$with_unit") <(files))"
rm "$units/lamplighter.service"

step "install, and log in"
does install --no-start
systemctl --user is-enabled lamplighter.service >/dev/null || fail "the unit is not enabled"
systemd-analyze verify --user --man=no "$units/lamplighter.service" "$units/lamplighter.socket" 2>"$HOME/verify.log" || fail "$(<"$HOME/verify.log")"
! grep -q lamplighter "$HOME/verify.log" || fail "$(<"$HOME/verify.log")"
is inactive
program=
does version
began=$(date +%s%N)
systemctl --user start desktop-session.target
is active
eventually "the icon" icon
echo "installed: from the target to the icon in the panel: $((($(date +%s%N) - began) / 1000000)) ms"
first=$(pid_of_service)

step "systemd's own autostart leaves the entry to the unit"
mkdir "$HOME/generated.log"
XDG_CONFIG_DIRS=/nowhere XDG_CURRENT_DESKTOP=GNOME /usr/lib/systemd/user-generators/systemd-xdg-autostart-generator "$HOME/generated.log" "$HOME/generated.log" "$HOME/generated.log" 2>/dev/null
! find "$HOME/generated.log" -name '*lamplighter*' | grep -q . || fail "there would be two: $(find "$HOME/generated.log")"
rm -r "$HOME/generated.log"

step "a desktop that starts the entry itself starts no second one, and opens nothing"
gio launch "$HOME/.config/autostart/lamplighter.desktop" >"$HOME/launch.log" 2>&1
eventually "the entry has ended" only_service
[[ $(pid_of_service) == "$first" ]] || fail "it is another one"

step "killed, it comes back"
kill -KILL "$first"
eventually "another process" another_service
eventually "the icon of the new one" icon
eventually "it answers" version_running

step "quit, it stays off, also for clients"
menu_quit
is inactive
eventually "no icon" no_item
eventually "the socket is closed" unit_is lamplighter.socket inactive
! (cd "$HOME/alpha" && "$connect" connect -- serena start-mcp-server --project "$HOME/alpha" --context ide </dev/null >"$HOME/client.log" 2>&1) ||
  fail "a client was served: $(<"$HOME/client.log")"
is inactive

step "a desktop without that target starts the unit by the entry"
gio launch "$HOME/.config/autostart/lamplighter.desktop" >"$HOME/launch.log" 2>&1
is active
eventually "the icon" icon
unit_is lamplighter.socket active || fail "the socket is not back"

step "log-out ends it, and a client starts it again"
systemctl --user stop desktop-session.target graphical-session.target
is inactive
client
is active
server=$(servers)

step "an upgrade restarts it, keeps settings and history, and leaves shared servers alone"
mkdir -p "$HOME/.config/lamplighter"
printf '# mine\nidle_shutdown_minutes: 30\n' >"$HOME/.config/lamplighter/config.yaml"
lines=$(wc -l <"$state/events.jsonl")
stays
asks 2
turn=2
for version in "$newer" "$programs" "$newer"; do # systemd starts the next one at once for the client
  program=$version/lamplighter does install
  eventually "${version##*/} runs" runs_version "${version##*/}"
  asks $((++turn))
done
leaves
is active
[[ $(head -n 1 "$HOME/.config/lamplighter/config.yaml") == '# mine' ]] || fail "the settings were changed"
(($(wc -l <"$state/events.jsonl") >= lines)) || fail "history was lost"
client
[[ $(servers) == "$server" ]] || fail "the server is another one: $server, then $(servers)"
pid=$(pid_of_service)

step "installed again, nothing happens"
installed_files=$(files)
does install
[[ $(pid_of_service) == "$pid" && $(files) == "$installed_files" ]] || fail "it was changed: $(diff <(echo "$installed_files") <(files))"
(cd "$HOME/alpha" && does doctor) || exit
grep -qF 'it was installed by lamplighter install' "$HOME/said.log" || fail "doctor: $(<"$HOME/said.log")"

step "uninstall leaves the settings"
does uninstall --yes --keep-setup
is inactive
after=$(files)
[[ $after == "$(printf '%s\n./.config/lamplighter/config.yaml\n' "$before" | LC_ALL=C sort)" ]] ||
  fail "left behind or lost: $(diff <(echo "$before") <(echo "$after"))"
[[ ! -e $XDG_RUNTIME_DIR/lamplighter && ! -e $state ]] || fail "left: $(find "$XDG_RUNTIME_DIR/lamplighter" "$state" 2>&1); $(<"$HOME/said.log")"
[[ $(systemctl --user show -p LoadState --value lamplighter.service) == not-found ]] || fail "the manager still knows the unit"

step "installed once more and purged, nothing is left"
program=$newer/lamplighter does install
eventually "it runs" runs_version 99.0.0
does uninstall --purge --yes --keep-setup
[[ $(files) == "$before" && ! -e $HOME/.config/lamplighter ]] || fail "left behind: $(diff <(echo "$before") <(files))"
eventually "the last server has ended" no_servers
echo "installed: ok"
