#!/usr/bin/env bash
# package-linux-test.sh NEW OLDER VERSION SYSTEM
#
# Installs, upgrades and takes away the packages in NEW and OLDER, of which NEW is
# of VERSION, with dpkg, apt and rpm in throw-away copies of the Debian in SYSTEM,
# and the archive in a home of its own. Nothing is left, and the rest of the
# machine sees nothing of it.
set -euo pipefail

if [[ ${1-} != --inside ]]; then
  (($# == 4)) || { echo "usage: ${0##*/} NEW OLDER VERSION SYSTEM" >&2; exit 2; }
  flags=(--mount --net --pid --fork --kill-child --mount-proc --propagation private)
  ((EUID == 0)) || flags=(--user --map-root-user "${flags[@]}")
  work=$(mktemp -d /tmp/lamp.XXXXXX)
  status=0
  unshare "${flags[@]}" -- "$BASH" "$0" --inside "$work" "$@" || status=$?
  rmdir "$work"
  exit "$status"
fi
work=$2 new=$3 older=$4 version=$5 system=$6

step() { printf 'package: %s\n' "$*"; }
fail() {
  printf 'package-linux-test.sh: %s\n' "$*" >&2
  exit 1
}
# says TEXT COMMAND… runs COMMAND, whose output must have TEXT.
says() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || fail "$*: failed: $output"
  [[ $output == *"$text"* ]] || fail "$*: no \"$text\" in: $output"
}
# refuses TEXT COMMAND… runs COMMAND, which must fail and say TEXT.
refuses() {
  local text=$1 output
  shift
  ! output=$("$@" 2>&1) || fail "$*: succeeded: $output"
  [[ $output == *"$text"* ]] || fail "$*: no \"$text\" in: $output"
}
# silent COMMAND… runs COMMAND, which must succeed and print nothing.
silent() {
  local output
  output=$("$@" 2>&1) || fail "$*: failed: $output"
  [[ -z $output ]] || fail "$*: $output"
}
# quiet COMMAND… shows what COMMAND prints only when it fails.
quiet() {
  local output
  output=$("$@" 2>&1) || fail "$*: $output"
}

mount -t tmpfs -o mode=755 tmpfs "$work"
ip link set lo up
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME="$work/home"
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
mkdir "$HOME"

# machine NAME makes a copy of the system in which root may do what it likes. Its
# service manager is one that notes what it is asked.
machine() {
  local root=$work/$1
  mkdir -p "$root" "$work/.$1/upper" "$work/.$1/work"
  mount -t overlay -o "lowerdir=$system,upperdir=$work/.$1/upper,workdir=$work/.$1/work" overlay "$root"
  mount -t proc proc "$root/proc"
  local device
  for device in null zero urandom; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  rm -f "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*
  mkdir -p "$root/run/systemd/system"
  cat >"$root/usr/bin/systemctl" <<'SCRIPT'
#!/bin/sh
case $1 in
  list-units) echo 'user@1000.service loaded active running User Manager for UID 1000' ;;
  *) echo "$*" >>/run/asked ;;
esac
SCRIPT
  chmod 755 "$root/usr/bin/systemctl"
}

within() {
  local root=$work/$1
  shift
  chroot "$root" env -i PATH="$PATH" HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# asked NAME LINE… compares what the service manager was asked, and forgets it.
asked() {
  local log=$work/$1/run/asked got=''
  shift
  [[ ! -f $log ]] || got=$(<"$log")
  [[ $got == "$(IFS=$'\n' && echo "$*")" ]] || fail "the service manager was asked: $got"
  rm -f "$log"
}

# lies NAME lists all that lies in a machine but for the package managers' books.
lies() {
  (cd "$work/$1" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/rpm -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \
    -o -path ./proc -o -path ./run -o -path ./tmp \) -prune -o -print | LC_ALL=C sort)
}

reload='--user --machine=1000@ daemon-reload'
restart='--user --machine=1000@ --no-block try-restart lamplighter.service'
stop='--user --machine=1000@ stop lamplighter.socket lamplighter.service'

# brought NAME KIND checks what a package has put into a machine.
brought() {
  local root=$work/$1 kind=$2 file what
  [[ $(<"$root/usr/share/lamplighter/package") == "$kind" ]] || fail "the package does not say it is a $kind"
  while read -r file; do
    [[ ! -d $root$file ]] || continue
    what=$(stat -c '%u:%g %a' "$root$file")
    case $file in
      /usr/bin/*) [[ $what == '0:0 755' ]] || fail "$file is $what" ;;
      *) [[ $what == '0:0 644' ]] || fail "$file is $what" ;;
    esac
  done < <(cd "$root" && comm -13 "$work/before" <(lies "$1") | sed 's/^\.//')
  for file in bin/lamplighter bin/lamplighter-connect lib/systemd/user/lamplighter.{service,socket} share/applications/lamplighter.desktop \
    share/icons/hicolor/{16x16,22x22,24x24,32x32,48x48,64x64,128x128,256x256}/apps/lamplighter.png share/icons/hicolor/scalable/apps/lamplighter.svg \
    share/man/man1/lamplighter{,-connect,-run,-install,-uninstall}.1.gz share/bash-completion/completions/lamplighter \
    share/fish/vendor_completions.d/lamplighter.fish; do
    [[ -f $root/usr/$file ]] || fail "/usr/$file is not there"
  done
  silent desktop-file-validate "$root/usr/share/applications/lamplighter.desktop"
  says 'lamplighter ' within "$1" lamplighter version
  says 'lamplighter-connect ' within "$1" lamplighter-connect version
  # It knows that it came with a package: its own unit is used, and it is not copied.
  says '"from":"/usr/lib/systemd/user/lamplighter.service"' within "$1" lamplighter install --dry-run --json
  ! within "$1" lamplighter install --dry-run --json | grep -F '"op":"copy"' || fail "a packaged program would be copied"
  [[ -z $(within "$1" find /root -name '*lamplighter*') ]] || fail "a dry run has written into /root"
}

# gone NAME: nothing is left, and nothing else has changed.
gone() {
  local differ
  differ=$(diff "$work/before" <(lies "$1")) || fail "removing the package left: $differ"
}

elf() { od -An -tx2 -j18 -N2 "$1" | tr -d ' '; }
declare -A machines=([amd64]=003e [arm64]=00b7)

step 'what lintian says'
complaints=$(lintian --fail-on error,warning --tag-display-limit 0 "$new"/*.deb 2>&1) || fail "lintian: $complaints"
complaints=${complaints//'running with root privileges is not recommended!'/}
[[ -z ${complaints//[[:space:]]/} ]] || fail "lintian: $complaints"

step 'dpkg and apt'
machine deb
lies deb >"$work/before"
mkdir "$work/deb/tmp/packages"
cp "$new"/*.deb "$work/deb/tmp/packages"
cp "$older"/*_amd64.deb "$work/deb/tmp/packages/older.deb"
quiet within deb dpkg -i /tmp/packages/older.deb
asked deb "$reload"
brought deb deb
apt=(apt-get -o APT::Sandbox::User=root -y)
quiet within deb "${apt[@]}" install "/tmp/packages/lamplighter_${version}_amd64.deb"
says "Version: $version" within deb dpkg-query -s lamplighter
asked deb "$reload" "$restart"
silent within deb dpkg --verify lamplighter
brought deb deb
refuses 'downgrade' within deb "${apt[@]}" install /tmp/packages/older.deb
refuses 'does not match system' within deb dpkg -i "/tmp/packages/lamplighter_${version}_arm64.deb"
quiet within deb "${apt[@]}" remove lamplighter
asked deb "$stop" "$reload"
gone deb
quiet within deb dpkg -i "/tmp/packages/lamplighter_${version}_amd64.deb"
quiet within deb "${apt[@]}" purge lamplighter
gone deb
! within deb dpkg-query -W lamplighter >"$work/said" 2>&1 || fail "dpkg still knows it: $(<"$work/said")"
within deb dpkg-deb -x "/tmp/packages/lamplighter_${version}_arm64.deb" /tmp/arm64
for program in lamplighter lamplighter-connect; do
  [[ $(elf "$work/deb/tmp/arm64/usr/bin/$program") == "${machines[arm64]}" ]] || fail "$program in the deb for arm64 is for another processor"
done

step 'a machine without systemd'
rm -r "$work/deb/run/systemd" "$work/deb/usr/bin/systemctl"
quiet within deb dpkg -i "/tmp/packages/lamplighter_${version}_amd64.deb"
quiet within deb dpkg -r lamplighter

step 'rpm'
machine rpm
mkdir -p "$work"/rpm/usr/{lib/systemd/user,share/applications,share/licenses} # as every system with rpm has
lies rpm >"$work/before"
# What rpm needs to know of the packages of a Debian is nothing.
rpm=(rpm --root "$work/rpm" --nosignature --nodeps --force-debian)
! rpm -qp --nosignature --requires "$new"/*.rpm | grep -vE '^(rpmlib\(|/bin/sh$)' || fail "the rpm requires that"
silent "${rpm[@]}" -i "$older"/*.x86_64.rpm
asked rpm "$reload"
brought rpm rpm
silent "${rpm[@]}" -U "$new/lamplighter-$version.x86_64.rpm"
[[ $(rpm --root "$work/rpm" -q --qf '%{VERSION}\n' lamplighter) == "$version" ]] || fail "rpm has not upgraded it"
asked rpm "$reload" "$restart"
silent "${rpm[@]}" -V lamplighter
brought rpm rpm
refuses 'newer than' "${rpm[@]}" -U "$older"/*.x86_64.rpm
refuses 'different architecture' "${rpm[@]}" -U "$new/lamplighter-$version.aarch64.rpm"
silent "${rpm[@]}" -e lamplighter
asked rpm "$stop" "$reload"
gone rpm
silent "${rpm[@]}" -i --ignorearch "$new/lamplighter-$version.aarch64.rpm"
for program in lamplighter lamplighter-connect; do
  [[ $(elf "$work/rpm/usr/bin/$program") == "${machines[arm64]}" ]] || fail "$program in the rpm for arm64 is for another processor"
done
silent "${rpm[@]}" -e lamplighter
gone rpm

step 'the archive'
for arch in amd64 arm64; do
  strange=$(tar -tvzf "$new/lamplighter-$version-linux-$arch.tar.gz" --numeric-owner | grep -vE '^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x) 0/0 ') || true
  [[ -z $strange ]] || fail "in the archive for $arch: $strange"
  mkdir -p "$work/un packed"
  tar -xzf "$new/lamplighter-$version-linux-$arch.tar.gz" -C "$work/un packed"
  for program in lamplighter lamplighter-connect; do
    [[ $(elf "$work/un packed/lamplighter-$version-linux-$arch/bin/$program") == "${machines[$arch]}" ]] ||
      fail "$program in the archive for $arch is for another processor"
  done
done
top="$work/un packed/lamplighter-$version-linux-amd64"
home="$work/the home"
mkdir "$home"
at_home() { (cd / && env -i PATH="$PATH:$home/.local/bin" HOME="$home" LC_ALL=C.UTF-8 "$@"); }
refuses 'does not run here' at_home "$work/un packed/lamplighter-$version-linux-arm64/install.sh"
says "$home/.local/bin/lamplighter" at_home "$top/install.sh" --dry-run
[[ -z $(find "$home" -mindepth 1) ]] || fail "a dry run has written: $(find "$home" -mindepth 1)"
quiet at_home "$top/install.sh" --no-start
for file in .local/bin/lamplighter .local/bin/lamplighter-connect .local/share/applications/lamplighter.desktop .local/share/man/man1/lamplighter.1.gz \
  .local/share/icons/hicolor/256x256/apps/lamplighter.png .local/share/icons/hicolor/scalable/apps/lamplighter.svg \
  .local/share/bash-completion/completions/lamplighter .local/share/fish/vendor_completions.d/lamplighter.fish .config/autostart/lamplighter.desktop; do
  [[ -f $home/$file ]] || fail "install.sh has not brought ~/$file"
done
silent desktop-file-validate "$home/.local/share/applications/lamplighter.desktop"
silent desktop-file-validate "$home/.config/autostart/lamplighter.desktop"
for program in lamplighter lamplighter-connect; do
  cmp "$top/bin/$program" "$home/.local/bin/$program" || fail "$program is another one"
done
mv "$top/bin/lamplighter" "$top/bin/moved"
refuses 'is missing' at_home "$top/install.sh"
rm -rf "$work/un packed"
says 'lamplighter ' at_home lamplighter version
says 'lamplighter-connect ' at_home lamplighter-connect version
says 'lamplighter workspace create' at_home man -P cat -M "$home/.local/share/man" lamplighter-workspace-create
quiet at_home lamplighter uninstall --purge --yes
[[ -z $(find "$home" -mindepth 1) ]] || fail "uninstall has left: $(find "$home" -mindepth 1)"

step 'manual pages and completions'
mkdir "$work/all"
dpkg-deb -x "$new/lamplighter_${version}_amd64.deb" "$work/all"
pages=0
for page in "$work/all"/usr/share/man/man1/*.gz; do
  complaints=$(MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >"$work/page") || fail "man cannot show ${page##*/}: $complaints"
  [[ -z $complaints ]] || fail "${page##*/}: $complaints"
  name=${page##*/}
  grep -q "${name%.1.gz} - " "$work/page" || fail "$name does not say what it is of: $(<"$work/page")"
  pages=$((pages + 1))
done
((pages > 30)) || fail "there are $pages manual pages only"
silent "$BASH" -n "$work/all/usr/share/bash-completion/completions/lamplighter"
# shellcheck disable=SC2016 # the other shell fills it in
says '-F __start_lamplighter lamplighter' "$BASH" -c '. "$1" && complete -p lamplighter' bash "$work/all/usr/share/bash-completion/completions/lamplighter"
umount -R "$work"
