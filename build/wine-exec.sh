#!/usr/bin/env bash
# wine-exec.sh PROGRAM [ARGUMENT…]
#
# Runs a Windows program in the session of build/wine-session.sh, from the
# current folder. `go test -exec` runs each test binary this way. Its exit
# status is the program's. With --end as the only argument it ends all of them.
set -euo pipefail

wine=${LAMPLIGHTER_TEST_WINE:?wine-exec.sh runs inside of wine-session.sh}

run=(wine "$@")
[[ ${1-} != --end ]] || run=(wineserver --kill)
inside=(
  PATH=/usr/bin:/bin
  HOME="$HOME"
  LANG=C.UTF-8
  DISPLAY=:0
  WINEPREFIX="$HOME/wine"
  # Neither of them is there, and Wine would offer to fetch them.
  WINEDLLOVERRIDES='mscoree,mshtml='
  WINEDEBUG="${LAMPLIGHTER_TEST_WINEDEBUG--all}"
  CI=true
)
# Windows sees the whole file system as drive Z.
for name in LAMPLIGHTER_TEST_TOOLS LAMPLIGHTER_TEST_PROGRAMS; do
  [[ -z ${!name-} ]] || inside+=("$name=Z:${!name//\//\\}")
done
# What draws by chance draws as it does elsewhere, see fixed_inputs of build.sh.
for name in RAPID_SEED LAMPLIGHTER_TEST_SEED; do
  [[ -z ${!name-} ]] || inside+=("$name=${!name}")
done
# Whatever a program leaves behind may hold its output, a console of Wine's for
# instance, and `go test` would wait for that: so it goes through a file.
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
chroot "$wine" env -i --chdir="$PWD" "${inside[@]}" "${run[@]}" >"$output" 2>&1 || status=$?
cat "$output"
exit "$status"
