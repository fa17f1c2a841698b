#!/usr/bin/env bash
# wine-session.sh COMMAND [ARGUMENT…]
#
# Runs COMMAND where build/wine-exec.sh runs Windows programs: on a display and
# with a Windows desktop of its own. Run it through isolated.sh, whose folders
# it uses; ./build.sh test-slow does. COMMAND itself is no Windows program.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [[ ${1-} != --inside ]]; then
  if (($# == 0)) || [[ -z ${XDG_RUNTIME_DIR-} || -z ${TMPDIR-} ]]; then
    echo "usage: isolated.sh ${0##*/} COMMAND [ARGUMENT…]" >&2
    exit 2
  fi
  # All that is mounted below is seen by nobody else, is gone with the last
  # process, and above all does not lie in a folder that isolated.sh clears.
  exec unshare --mount --propagation private -- "$BASH" "$0" --inside "$@"
fi
shift

die() {
  printf 'wine-session.sh: %s\n                 %s\n' "$1" "$2" >&2
  exit 1
}

base=$root/.cache/wine
[[ -x $base/usr/lib/wine/wine64 ]] || die "there is no Wine in .cache/wine" "run: ./build.sh test-slow"
area=$XDG_RUNTIME_DIR/wine
wine=$area/root
export LAMPLIGHTER_TEST_WINE=$wine
mkdir "$area" "$HOME/wine"
# Nothing is ever written into .cache/wine. The upper half of an overlay cannot
# lie on another overlay, which is what containers have; memory always will do.
mount -t tmpfs -o mode=755 tmpfs "$area"
mkdir "$area/upper" "$area/work" "$wine" "$area/display"
mount -t overlay -o "lowerdir=$base,upperdir=$area/upper,workdir=$area/work" overlay "$wine"
mount --rbind /dev "$wine/dev"
mount -t proc proc "$wine/proc"
# What both worlds see lies at the same path in both.
for shared in "$root" "$TMPDIR" "$HOME"; do
  mkdir -p "$wine$shared"
  mount --bind "$shared" "$wine$shared"
done
mount -o remount,bind,ro "$wine$root"

# The display takes its name from a file in /tmp, which would be the whole
# machine's.
mkdir -p "$wine/tmp/.X11-unix" "$area/display/.X11-unix"
mount --bind "$area/display/.X11-unix" "$wine/tmp/.X11-unix"
# shellcheck disable=SC2016 # the inner shell fills it in
unshare --mount --propagation private -- "$BASH" -c 'mount --bind "$0" /tmp && exec "$@"' "$area/display" \
  Xvfb :0 -screen 0 1024x700x24 -nolisten tcp >"$HOME/xvfb.log" 2>&1 &
for _ in {1..200}; do
  [[ ! -S $area/display/.X11-unix/X0 ]] || break
  sleep 0.05
done
[[ -S $area/display/.X11-unix/X0 ]] || die "the display did not start: $(tail -n 3 "$HOME/xvfb.log")" "see above"
export DISPLAY=:0

# Makes a Windows of its own. Its desktop has a taskbar, where the tray is, and
# all programs have to be on that one desktop: they see no window of another.
wine() { timeout 120 "$root/build/wine-exec.sh" "$@" >"$HOME/wine.log" 2>&1 || die "$* failed: $(tail -n 3 "$HOME/wine.log")" "see above"; }
wine wineboot.exe --init
wine reg.exe add 'HKCU\Software\Wine\Explorer' /v Desktop /d shell /f
wine reg.exe add 'HKCU\Software\Wine\Explorer\Desktops' /v shell /d 1024x700 /f
wine --end
# Windows ends with its last program, and would be started again by the next,
# with the output of that one for its messages.
sleep infinity | "$root/build/wine-exec.sh" cmd.exe /c pause >"$HOME/pause.log" 2>&1 &
wine cmd.exe /c ver

end() {
  "$root/build/wine-exec.sh" --end >/dev/null 2>&1 || true
}
trap end EXIT
"$@"
