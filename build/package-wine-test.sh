# shellcheck shell=bash
# Sourced by build.sh: what the setup for Windows does, under Wine and on Windows.

# setups DIR [compressed] makes what is tested: two setups that differ in their version.
# Compressed, the newer one is what people get, which takes minutes.
setups() {
  local version quick=(-DQUICK)
  rm -rf "$1"
  mkdir -p "$1"
  need_windows_package || exit
  package_epoch
  package_work=$(mktemp -d "$cache/package.XXXXXX")
  for version in 1.2.3 1.2.4; do stage_windows "$package_work/$version" "$version"; done
  windows_setup "$package_work/1.2.3" 1.2.3 "$1/lamplighter-1.2.3-setup.exe" -DQUICK
  [[ ${2-} != compressed ]] || quick=()
  windows_setup "$package_work/1.2.4" 1.2.4 "$1/lamplighter-1.2.4-setup.exe" "${quick[@]}"
  # For the tests' own use beside the setups.
  mv "$package_work"/1.2.4/*.exe "$1"
  cp installer/package/install.cmd "$1"
  rm -r "$package_work"
}

# test_setup [compressed] installs, upgrades and uninstalls with the setup: under Wine, or on
# Windows with the setups that were made on Linux.
test_setup() {
  local dir=$cache/windows-setup log=$cache/setup-test.log
  local run=(go test -vet=off -tags packaged -count=1 -timeout 10m -v -run "^Test(Setup|Archive|Resources)\$" ./app/e2e/windows)
  need_go
  case $(uname -s) in
    Linux)
      (
        locked
        need_wine
      ) || exit
      say "trying the setup for Windows under Wine $wine_version"
      setups "$dir" "$@"
      run=("$root/build/isolated.sh" "$root/build/wine-session.sh" "${run[@]:0:2}" -exec "'$root/build/wine-exec.sh'" "${run[@]:2}")
      LAMPLIGHTER_TEST_PROGRAMS=$dir GOOS=windows CGO_ENABLED=0 "${run[@]}" >"$log" 2>&1
      ;;
    *)
      [[ -f $dir/lamplighter-1.2.3-setup.exe ]] ||
        die "there is no setup in $dir" "make it on Linux (./build.sh test-setup), and copy that folder"
      LAMPLIGHTER_TEST_PROGRAMS=$(cygpath -w "$dir") "${run[@]}" >"$log" 2>&1
      ;;
  esac || {
    tail -n 60 "$log" >&2
    die "the setup for Windows does not do what it should (all of it: $log)" "see above"
  }
}
