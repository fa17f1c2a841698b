#!/usr/bin/env bash
# isolated.sh COMMAND [ARGUMENT…]
#
# Runs COMMAND where it can neither see nor disturb the rest of the machine:
# own network (loopback only) and process namespaces, own home and runtime
# folders, a clean environment. Whatever COMMAND leaves running ends with it.
# Its exit status is COMMAND's. `go test -exec` runs each test binary this way.
set -euo pipefail

if [[ ${1-} != --inside ]]; then
  if (($# == 0)); then
    echo "usage: ${0##*/} COMMAND [ARGUMENT…]" >&2
    exit 2
  fi
  # What is compiled and downloaded is kept, although HOME changes.
  if command -v go >/dev/null; then
    for name in GOCACHE GOMODCACHE GOPATH GOENV; do
      [[ -n ${!name-} ]] || export "$name=$(go env "$name")"
    done
  fi
  flags=(--net --pid --fork --kill-child --mount-proc)
  ((EUID == 0)) || flags=(--user --map-root-user "${flags[@]}")
  exec unshare "${flags[@]}" -- "$BASH" "$0" --inside "$@"
fi
shift

# From here on this is process 1 of the new namespace. It reaps what is
# orphaned (bash waits for any child), and it must be process 1, because at the
# end it kills everything else that it can see.
if (($$ != 1)); then
  echo "isolated.sh: --inside is not for calling by hand; leave it out" >&2
  exit 2
fi

# Unix sockets allow 107 bytes, so the path is short. In memory it is many times
# faster for tests that write and sync much; what measures a disk asks for one.
work=$(mktemp -d /tmp/lamp.XXXXXX)
[[ -n ${LAMPLIGHTER_TEST_DISK-} ]] || mount -t tmpfs -o size=50%,mode=700 lamplighter "$work" 2>/dev/null || true
end() {
  local status=$?
  trap - EXIT INT TERM HUP
  kill -KILL -- -1 2>/dev/null || true
  cd /
  umount -l "$work" 2>/dev/null || true
  rm -rf "$work" 2>/dev/null || rm -rf "$work" || true
  exit "$status"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

ip link set lo up
mkdir "$work/home" "$work/tmp"
mkdir -m 700 "$work/run"

clean=(
  HOME="$work/home"
  TMPDIR="$work/tmp"
  XDG_RUNTIME_DIR="$work/run"
  XDG_CONFIG_HOME="$work/home/.config"
  XDG_STATE_HOME="$work/home/.local/state"
  XDG_DATA_HOME="$work/home/.local/share"
  XDG_CACHE_HOME="$work/home/.cache"
  LANG=C.UTF-8
  CI=true
  SERENA_USAGE_REPORTING=false
)
while read -r name; do
  case $name in
    PATH | TERM | GO* | CGO_* | LAMPLIGHTER_TEST_* | RAPID_*) clean+=("$name=${!name}") ;;
  esac
done < <(compgen -e)
# Modules were downloaded before; nothing can be had from here.
clean+=(GOPROXY=off)

# In a session of its own. A process group that reached out of the namespace would
# have the number 0 in here, so that whoever asks for its group and ends it would end
# everything outside, too. In the background, because bash keeps signals until what
# runs in front of it has ended.
setsid env --default-signal=INT,QUIT -i "${clean[@]}" "$@" <&0 &
wait $!
