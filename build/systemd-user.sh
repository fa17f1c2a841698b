#!/usr/bin/env bash
# systemd-user.sh [--reads DIR]… SCRIPT [ARGUMENT…]
#
# Runs SCRIPT below a real `systemd --user` of a user that exists only there, in
# mount, process, network and control group namespaces of its own. It has its
# own home, whose name has a space, and displays of its own, and
# DBUS_SESSION_BUS_ADDRESS is that of its manager. DIR is made readable for that
# user in there, whatever is above it. Needs root.
set -euo pipefail

uid=4711
here=$(cd "$(dirname "$0")" && pwd)
hierarchies=()
for each in systemd unified; do
  [[ -d /sys/fs/cgroup/$each ]] && hierarchies+=("/sys/fs/cgroup/$each")
done
((${#hierarchies[@]})) || hierarchies=(/sys/fs/cgroup) # version 2 alone

case ${1-} in
  --namespace | --user) stage=$1 && shift ;;
  '')
    echo "usage: ${0##*/} [--reads DIR]… SCRIPT [ARGUMENT…]" >&2
    exit 2
    ;;
  *) stage= ;;
esac

# Control groups of our own, so that nothing else on the machine is touched.
if [[ -z $stage ]]; then
  ((EUID == 0)) || { echo "${0##*/}: this needs root, for a user and control groups of its own" >&2; exit 1; }
  group=lamplighter-$$
  work=$(mktemp -d /tmp/lamp.XXXXXX)
  for each in "${hierarchies[@]}"; do
    mkdir "$each/$group"
    echo $$ >"$each/$group/cgroup.procs"
  done
  status=0
  unshare --mount --pid --net --fork --kill-child --mount-proc --cgroup --propagation private -- \
    "$BASH" "$here/${0##*/}" --namespace "$work" "$@" || status=$?
  for each in "${hierarchies[@]}"; do
    echo $$ >"$each/cgroup.procs"
    find "$each/$group" -depth -type d -exec rmdir {} \; || true
  done
  rm -rf "$work"
  exit "$status"
fi

# reads DIR lets the user read it although a folder above it is somebody's own.
# DIR has no links in it. What lies below a folder that was hidden for another one
# is taken from where that was kept.
declare -A kept=()
reads() {
  local dir=$1 part path='' parts
  IFS=/ read -ra parts <<<"${dir#/}"
  for part in "${parts[@]}"; do
    path+=/$part
    if [[ -z ${kept[$path]-} ]]; then
      setpriv --reuid "$uid" --regid "$uid" --clear-groups test -x "$path" && continue
      [[ -d $path ]] || continue
      kept[$path]=$(mktemp -d "$work/kept.XXXXXX")
      mount --rbind "$path" "${kept[$path]}"
      mount -t tmpfs -o mode=755 tmpfs "$path"
    fi
    mkdir -p "$dir"
    mount --bind "${kept[$path]}${dir#"$path"}" "$dir"
    return
  done
}

# Fresh control group file systems, rooted at our own group.
if [[ $stage == --namespace ]]; then
  work=$1
  shift
  ip link set lo up
  umount -l /sys/fs/cgroup
  mine=()
  if ((${#hierarchies[@]} == 2)); then
    mount -t tmpfs tmpfs /sys/fs/cgroup
    mkdir /sys/fs/cgroup/{systemd,unified}
    mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
    mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified
    mine=(/sys/fs/cgroup/systemd /sys/fs/cgroup/unified)
  else
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
    mine=(/sys/fs/cgroup)
  fi
  for each in "${mine[@]}"; do
    for file in "" /cgroup.procs /tasks /cgroup.subtree_control /cgroup.threads; do
      [[ ! -e $each$file ]] || chown "$uid:$uid" "$each$file"
    done
  done
  cp /etc/passwd "$work/passwd"
  echo "lamplighter-test:x:$uid:$uid::$work/my home:/bin/bash" >>"$work/passwd"
  chmod 644 "$work/passwd"
  mount --bind "$work/passwd" /etc/passwd
  chmod 755 "$work"
  wanted=("$(readlink -f "$here")")
  while [[ ${1-} == --reads ]]; do
    wanted+=("$(readlink -f "$2")")
    shift 2
  done
  for each in "${wanted[@]}"; do reads "$each"; done
  mkdir "$work/my home"
  chown "$uid:$uid" "$work/my home"
  # Displays are numbered in /tmp, which is the whole machine's.
  mkdir -p /tmp/.X11-unix
  mount -t tmpfs -o mode=1777 tmpfs /tmp/.X11-unix
  mount -t tmpfs tmpfs /run
  mkdir -p /run/systemd/system "/run/user/$uid"
  chown "$uid:$uid" "/run/user/$uid"
  chmod 700 "/run/user/$uid"
  exec setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i PATH="$PATH" HOME="$work/my home" USER=lamplighter-test \
    LANG=C.UTF-8 XDG_RUNTIME_DIR="/run/user/$uid" "$BASH" "$here/${0##*/}" --user "$@"
fi

SYSTEMD_LOG_TARGET=console /lib/systemd/systemd --user >"$HOME/manager.log" 2>&1 &
manager=$!
for ((i = 0; i < 200; i++)); do
  case $(systemctl --user is-system-running 2>/dev/null) in
    running | degraded) break ;;
  esac
  sleep 0.1
done
export DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus
status=0
"$BASH" "$@" || status=$?
((status == 0)) || tail -n 40 "$HOME/manager.log" >&2
systemctl --user exit
wait "$manager" || true
exit "$status"
