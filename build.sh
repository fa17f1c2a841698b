#!/usr/bin/env bash
# Builds, runs and checks Lamplighter: ./build.sh help
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$root/.cache
cd "$root"

usage() {
  cat <<'TEXT'
usage: ./build.sh VERB [ARGUMENT…]

  build                  bin/lamplighter and, beside it, bin/lamplighter-connect; both static
  build-windows          bin/lamplighter.exe, bin/lamplighter-connect.exe and, without a console, bin/lamplighter-tray.exe
  run [ARGUMENT…]        build it and run `lamplighter run`
  demo                   three real Serena servers in three states, beside lamplighter
  demo --screenshot DIR  the same on a private desktop and in a browser, as pictures in DIR

  lint                   every check that reads the source
  test                   lint, and all tests, with real Serena servers and a real desktop
  test-full [--skip-test]  test, then Wine, fuzzing, faults, a soak of 5 minutes, packages, repetitions
  test-wine [PACKAGE…]   the tests as Windows programs, under Wine
  test-setup             the setup for Windows, under Wine; on Windows those that were made for that on Linux
  test-here              the tests that need nothing but Go, on any system
  faults                 the program killed, its disk full, its bus ended, its clock stepped
  fuzz [SECONDS [PACKAGE…]]  the fuzz targets, each for so long
  fuzz --keep            what they found since, into build/fuzz-corpora.tar.gz, with which the next machine begins
  soak [MINUTES]         hundreds of servers and their clients come, go, hang and crash, for 5 minutes if nothing is said
  bench [--json] [--write] [PART…]
                         what it costs, compared with what people have today, as a table, or as JSON, and into
                         docs/performance.md; parts: starts, page, registrations, launch, sharing, workspaces,
                         servers, stand-ins
  package [KIND…]        what people install, in dist, with checksums; kinds: deb, rpm, archive, setup (Windows),
                         app (macOS), by default all that this system can make; sums: the checksums alone
  draft-release TAG      a draft of a release on GitHub of what is in dist

build and run need Go 1.26 and install nothing. The others install what they
need into .cache, each at a fixed version, and as Debian packages when root.
TEXT
}

say() { printf '%s\n' "build.sh: $*"; }

# die WHAT NEXT says what went wrong and what to do about it.
die() {
  printf 'build.sh: %s\n          %s\n' "$1" "$2" >&2
  exit 1
}

# shellcheck source=build/tools.sh
. build/tools.sh
# shellcheck source=build/links.sh
. build/links.sh
# shellcheck source=build/lint.sh
. build/lint.sh
# shellcheck source=build/servers.sh
. build/servers.sh
# shellcheck source=build/demo.sh
. build/demo.sh
# shellcheck source=build/wine.sh
. build/wine.sh
# shellcheck source=build/package.sh
. build/package.sh
# shellcheck source=build/package-windows.sh
. build/package-windows.sh
# shellcheck source=build/package-macos.sh
. build/package-macos.sh
# shellcheck source=build/package-wine-test.sh
. build/package-wine-test.sh
# shellcheck source=build/release.sh
. build/release.sh
# shellcheck source=build/bench.sh
. build/bench.sh
# shellcheck source=build/fuzz.sh
. build/fuzz.sh
# shellcheck source=build/soak.sh
. build/soak.sh

need_go() {
  local next="install Go 1.26 or newer (https://go.dev/dl/), put its bin folder on the PATH, then run this again"
  command -v go >/dev/null || die "Go was not found on the PATH" "$next"
  local version
  # go.mod names the version; a newer go command fetches it where it may.
  version=$(go env GOVERSION 2>&1) || die "this Go is too old: $version" "$next"
  case $version in
    go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.2[0-5]*) die "this Go is too old: $version" "$next" ;;
  esac
  # In a tree of another owner git tells Go nothing, which would be an error;
  # the version comes from do_build.
  GOFLAGS="$(go env GOFLAGS) -buildvcs=false"
  export GOFLAGS
}

# version_of_tree prints what the program calls itself.
version_of_tree() {
  # Before the first tag there is only a revision, and that alone is no version.
  git describe --tags --dirty 2>/dev/null ||
    printf '0.1.0-dev+%s\n' "$(git describe --always --dirty 2>/dev/null || echo unknown)"
}

# stamped VERSION prints the linker's flags for what a program calls itself, and
# for the stamp by which doctor finds that in the file of a copy. The second is
# of lamplighter alone, and nothing to lamplighter-connect.
stamped() { printf -- '-X main.version=%s -X main.stamp=lamplighter-version=%s;' "$1" "$1"; }

# do_build builds the program, and the one that it starts above each server,
# which it looks for beside itself.
do_build() {
  need_go
  local version exe cgo=0
  version=$(version_of_tree)
  exe=$(go env GOEXE)
  # The tray library needs C on macOS, and only there.
  [[ $(go env GOOS) == darwin ]] && cgo=1
  mkdir -p bin
  say "building bin/lamplighter$exe and bin/lamplighter-connect$exe, which takes minutes the first time" >&2
  { CGO_ENABLED=$cgo go build -trimpath -ldflags "-s -w $(stamped "$version")" -o "bin/lamplighter$exe" ./app &&
    CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $(stamped "$version")" -o "bin/lamplighter-connect$exe" ./app/connect; } ||
    die "the build failed" "see the messages of the compiler above"
}

do_run() {
  do_build
  exec "bin/lamplighter$(go env GOEXE)" run "$@"
}

do_lint() {
  need_go
  (
    locked
    need_debian "${debian_lint[@]}"
    need_go_tools staticcheck govulncheck actionlint
  )
  lint || die "lint: ${#lint_failed[@]} of its checks failed: $(printf '%s; ' "${lint_failed[@]}")" \
    "mend what is named above, then run: ./build.sh lint"
}

# go_test ARGUMENT… is go test with each package's tests on a machine of their
# own (see build/isolated.sh).
go_test() {
  LAMPLIGHTER_TEST_TOOLS=$cache go test -exec "'$root/build/isolated.sh'" -count=1 "$@"
}

# packages PATTERN LOG counts the lines of LOG that `go test` closed a package with.
packages() { grep -cE "^($1)\s" "$2" || true; }

do_test() {
  need_go
  need_all
  local linted='lint: ok' tested=0 log=$cache/test.log
  lint || linted="lint: FAILED ($(printf '%s; ' "${lint_failed[@]}"))"
  go_test -race -tags real -timeout 20m ./... 2>&1 | tee "$log" || tested=1
  printf '\n%s\npackages: %d passed, %d failed\ntook %d s\n' "$linted" \
    "$(packages ok "$log")" "$(packages 'FAIL\s+\S+' "$log")" "$SECONDS"
  ((tested == 0)) || die "tests failed" "look for FAIL above (all of it: $log)"
  [[ $linted == 'lint: ok' ]] || die "lint failed" "look for FAILED above, then run: ./build.sh lint"
}

# test_systemd has a real systemd start lamplighter for its clients, and with a
# desktop.
test_systemd() {
  need_debian "${debian_systemd[@]}" "${debian_desktop[@]}"
  local prefix version below
  for version in 1.0.0 99.0.0; do build_linux "$cache/linux/$version" "$version"; done
  say "running below a real systemd --user"
  prefix=$("$cache/venv/bin/python" -c 'import sys; print(sys.base_prefix)')
  below=("$root/build/systemd-user.sh" --reads "$prefix" --reads "$cache")
  "${below[@]}" "$root/build/socket-activation.sh" "$cache/linux/1.0.0" "$cache" || die "socket activation failed" "see above"
  "${below[@]}" "$root/build/installed.sh" "$cache/linux/1.0.0" "$cache/linux/99.0.0" "$cache" || die "installing failed" "see above"
}

do_test_full() {
  case ${1-} in
    '') do_test ;;
    --skip-test) need_go && need_all ;;
    *) die "test-full does not know $1" "run: ./build.sh test-full [--skip-test]" ;;
  esac
  test_wine
  fuzz_all
  say "playing the scenes that the recorded situations are from"
  go_test -tags 'real full' -count=1 -run '^TestRecordSituations$' ./app ||
    die "a scene is not decided as it was recorded" "look for FAIL above"
  test_faults
  do_soak 5
  test_systemd
  test_packages
  test_setup
  test_macos
  say "repeating the tests of tray and monitor/watch"
  go_test -race -tags real -count=2 -timeout 30m ./tray/... ./monitor/watch/... ||
    die "a repeated test failed" "look for FAIL above; a test that fails now and then is a fault"
  printf '\nfull test: ok, took %d s\n' "$SECONDS"
}

# test_faults kills the program, fills its disk, ends its bus, steps its clock and
# takes its file descriptors.
test_faults() {
  say "killing the program, filling its disk, ending its bus, stepping its clock"
  go_test -tags 'real full' -timeout 30m -run '^TestFault' -v ./app || die "a fault was not survived" "look for FAIL above"
}

do_faults() {
  need_go
  need_all
  test_faults
}

verb=${1-help}
(($# == 0)) || shift
case $verb in
  build) do_build ;;
  build-windows) need_go && build_windows bin "$(version_of_tree)" ;;
  run) do_run "$@" ;;
  demo) do_demo "$@" ;;
  lint) do_lint ;;
  test) do_test ;;
  test-full) do_test_full "$@" ;;
  test-wine) test_wine "$@" ;;
  test-setup) test_setup ;;
  test-here) do_test_here ;;
  bench) do_bench "$@" ;;
  faults) do_faults ;;
  fuzz) do_fuzz "$@" ;;
  soak) do_soak "$@" ;;
  package) do_package "$@" ;;
  draft-release) do_draft_release "$@" ;;
  help | -h | --help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
