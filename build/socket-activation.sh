#!/usr/bin/env bash
# socket-activation.sh PROGRAMS TOOLS
#
# Run by systemd-user.sh: on a machine without a desktop systemd starts
# lamplighter for the first client that connects, and lamplighter ends when
# nobody has used it for a while. PROGRAMS holds the two binaries, TOOLS is
# .cache of the tree.
set -euo pipefail

programs=$1 tools=$2
connect=$HOME/.local/bin/lamplighter-connect
# shellcheck source=build/below-systemd.sh
. "$(dirname "$0")/below-systemd.sh"

serena_to_use
"$programs/lamplighter" install --headless --no-start >"$HOME/install.log" 2>&1 || fail "install: $(<"$HOME/install.log")"
mkdir -p "$HOME/.config/systemd/user/lamplighter.service.d"
cat >"$HOME/.config/systemd/user/lamplighter.service.d/test.conf" <<UNIT
[Service]
Environment=LAMPLIGHTER_IDLE_SHUTDOWN_SECS=5 "PATH=$PATH" SERENA_USAGE_REPORTING=false CI=true
UNIT
systemctl --user daemon-reload
systemctl --user start lamplighter.socket
is inactive

client
is active
first=$(pid_of_service)
is inactive # it has ended by itself
! servers >/dev/null || fail "a server is left: $(pgrep -u "$UID" -af start-mcp-server)"
client
is active
second=$(pid_of_service)
[[ $first != "$second" ]] || fail "it is the same process"

# Killed, it leaves its server to the next one, which systemd starts.
server=$(servers)
systemctl --user kill --kill-whom=main --signal=SIGKILL lamplighter.service
client
again=$(servers)
[[ -n $server && $server == "$again" ]] || fail "the server is another one: $server, then $again"
is inactive
echo "socket activation: ok"
