#!/bin/sh
# Before the programs go, they end where they run as a user's service. Called with
# "remove" (dpkg), or with 0 as the number of versions that stay (rpm).
set -e
case $1 in
  remove | 0) ;;
  *) exit 0 ;;
esac
[ -d /run/systemd/system ] || exit 0
command -v systemctl >/dev/null || exit 0
for user in $(systemctl list-units --no-legend --plain --state=active 'user@*.service' 2>/dev/null | sed -n 's/^user@\([0-9]*\)\.service .*/\1/p'); do
  systemctl --user --machine="$user@" stop lamplighter.socket lamplighter.service >/dev/null 2>&1 || true
done
