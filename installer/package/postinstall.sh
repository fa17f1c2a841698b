#!/bin/sh
# After an upgrade the newer lamplighter takes over where the older one runs as a
# user's service; shared servers stay. Called with "configure" and, when there was
# one, the older version (dpkg), or with the number of versions (rpm).
set -e
upgrade=
case $1 in
  configure) [ -z "$2" ] || upgrade=yes ;;
  [2-9]*) upgrade=yes ;;
esac
[ -d /run/systemd/system ] || exit 0
command -v systemctl >/dev/null || exit 0
for user in $(systemctl list-units --no-legend --plain --state=active 'user@*.service' 2>/dev/null | sed -n 's/^user@\([0-9]*\)\.service .*/\1/p'); do
  systemctl --user --machine="$user@" daemon-reload >/dev/null 2>&1 || continue
  [ -z "$upgrade" ] || systemctl --user --machine="$user@" --no-block try-restart lamplighter.service >/dev/null 2>&1 || true
done
