#!/bin/sh
# Installs Lamplighter from this archive for the user who runs this, without root:
#
#   ./install.sh [--dry-run] [--no-login] [--headless] …
#
# It is "lamplighter install", which says all that it knows with --help.
# Afterwards this folder may be deleted.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
program=$here/bin/lamplighter
if [ ! -f "$program" ]; then
  echo "install.sh: $program is missing; unpack the whole archive, then run this again" >&2
  exit 1
fi
if ! "$program" version >/dev/null; then
  echo "install.sh: $program does not run here (this is $(uname -sm)); take the archive for this machine, and unpack it where programs may run" >&2
  exit 1
fi
exec "$program" install "$@"
