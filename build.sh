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
  demo --screenshot DIR  the same, and three clients on one project, as pictures in DIR

  lint                   every check that reads the source
  test                   lint, and all tests, with real Serena servers, a real browser and a real desktop
  test-slow              what CI runs besides: the race detector, Wine, ten kills, a minute of soak, systemd, packages
  endurance              what searches with random inputs, for hours: fuzzing, faults, soak, scenes, repetitions
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

# Nothing ends without a sentence, not even a command that says nothing itself.
set -E
trap 'printf "build.sh: failed at %s:%s\n" "${BASH_SOURCE[0]##*/}" "$LINENO" >&2' ERR

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
  # With paths left out, what one command or clone has compiled serves all others.
  GOFLAGS="$(go env GOFLAGS) -buildvcs=false -trimpath"
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
    need_go_tools staticcheck actionlint
    need_typescript
  )
  lint_all
}

# test_programs is where the programs lie that black-box tests run; empty: each package builds its own.
test_programs=

# go_test ARGUMENT… is go test with each package's tests on a machine of their
# own (see build/isolated.sh).
go_test() {
  LAMPLIGHTER_TEST_TOOLS=$cache LAMPLIGHTER_TEST_PROGRAMS=$test_programs go test -vet=off -exec "'$root/build/isolated.sh'" -count=1 "$@"
}

# stage NAME COMMAND… runs one part of the tests, and notes how long it took. The
# others run although it fails.
stages=() stages_failed=()
stage() {
  local name=$1 start=$SECONDS status=0
  shift
  say "$name"
  set +e
  # In a shell of its own, which ends at the first command that fails.
  (
    set -e
    "$@"
  ) </dev/null
  status=$?
  set -e
  ((status == 0)) || stages_failed+=("$name")
  stages+=("$(printf '%5d s  %-28s %s' $((SECONDS - start)) "$name" "$( ((status == 0)) && echo ok || echo FAILED)")")
}

# stages_end prints what the stages took, and fails if one of them did.
stages_end() {
  printf '\n'
  printf '%s\n' "${stages[@]}"
  printf '%5d s  in all\n' "$SECONDS"
  ((${#stages_failed[@]} == 0)) ||
    die "these stages failed: $(printf '%s; ' "${stages_failed[@]}")" "look for FAIL above"
}

# long_tests are the packages whose tests take longest, the longest first. go test
# starts packages in the order in which they are named, and each once.
long_tests=(
  ./app/launch ./monitor/watch ./app/connect ./app/workspace ./app/share
  ./monitor/stop ./monitor/serena ./installer ./app/workspace/gitwork
)

# raced prints the packages that the race detector is for, the longest first: those
# that start goroutines or have locks, of those that end their tests with goleak.
raced() {
  local package packages=("${long_tests[@]}")
  mapfile -t -O "${#packages[@]}" packages < <(git ls-files '*_test.go' | xargs grep -l goleak | sed 's|^|./|; s|/[^/]*$||' | sort -u)
  for package in "${packages[@]}"; do
    find "$package" -maxdepth 1 -name '*.go' ! -name '*_test.go' -exec grep -qE '\bgo (func|[a-zA-Z.]+\()|\.Go\(|\bchan |sync\.(RW)?Mutex|atomic\.' {} + || continue
    printf '%s\n' "$package"
  done
}

# built_programs builds what the black-box tests run, once for all of them.
built_programs() {
  build_linux "$test_programs" 1.2.3-test
}

# lint_all says which of the checks failed, and ends with that.
lint_all() {
  lint || die "lint: ${#lint_failed[@]} of its checks failed: $(printf '%s; ' "${lint_failed[@]}")" "fix what is named above, then run: ./build.sh lint"
}

# fixed_inputs has whatever draws by chance draw the same each time.
fixed_inputs() { export LAMPLIGHTER_TEST_SEED=1 RAPID_SEED=1; }

# test_units has the tests of each room, with what fuzzing once found as inputs. The
# tag adds what needs both the inside of a room and a real disk, lock or system.
test_units() {
  local all
  mapfile -t all < <(go list ./... | grep -vE '^lamplighter/app/(contract|e2e/)')
  trap fuzz_clear EXIT
  fuzz_unpack
  go_test -p 4 -tags real -timeout 15m "${long_tests[@]}" "${all[@]}" # much of their time they wait
}

test_contract() { go_test -tags contract ./app/contract ./monitor/serena/serenatest; }

# test_e2e has one test for each real boundary. Its packages begin together: on two cores
# two at a time took a fifth longer.
test_e2e() { go_test -p 3 -tags real -timeout 20m ./app/e2e/sharing ./app/e2e/page ./app/e2e/desktop; }

test_race() {
  local packages
  mapfile -t packages < <(raced)
  ((${#packages[@]})) || die "there are no packages for the race detector" "see raced in build.sh"
  go_test -race -p 4 "${packages[@]}"
}

do_test() {
  need_go
  stage 'set up' need_all
  ((${#stages_failed[@]} == 0)) || stages_end
  stage 'lint' lint_all
  fixed_inputs
  test_programs=$cache/programs
  stage 'build the programs' built_programs
  stage 'unit tests' test_units
  stage 'contract' test_contract
  stage 'end to end' test_e2e
  stages_end
}

# test_systemd has a real systemd start lamplighter for its clients, and with a
# desktop.
test_systemd() {
  need_debian "${debian_systemd[@]}" "${debian_desktop[@]}"
  local prefix version below
  for version in 1.0.0 99.0.0; do build_linux "$cache/linux/$version" "$version"; done
  prefix=$("$cache/venv/bin/python" -c 'import sys; print(sys.base_prefix)')
  below=("$root/build/systemd-user.sh" --reads "$prefix" --reads "$cache")
  "${below[@]}" "$root/build/socket-activation.sh" "$cache/linux/1.0.0" "$cache" || die "socket activation failed" "see above"
  "${below[@]}" "$root/build/installed.sh" "$cache/linux/1.0.0" "$cache/linux/99.0.0" "$cache" || die "installing failed" "see above"
}

# do_test_slow has the same inputs every time: what searches is do_endurance.
do_test_slow() {
  need_go
  stage 'set up' need_slow
  ((${#stages_failed[@]} == 0)) || stages_end
  fixed_inputs
  test_programs=$cache/programs
  stage 'build the programs' built_programs
  stage 'race detector' test_race
  stage 'faults' test_faults 10
  stage 'soak of a minute' do_soak 1
  stage 'systemd' test_systemd
  stage 'packages for Linux' test_packages
  stage 'setup for Windows' test_setup
  stage 'bundle for macOS' test_macos
  stage 'Wine' test_wine
  stages_end
}

# do_endurance looks for what the fixed inputs do not show. What it finds becomes
# one of them.
do_endurance() {
  need_go
  stage 'set up' need_all
  ((${#stages_failed[@]} == 0)) || stages_end
  test_programs=$cache/programs
  stage 'build the programs' built_programs
  stage 'vulnerabilities' vulnerabilities
  stage 'staticcheck for Windows' staticcheck_windows
  stage 'fuzzing' do_fuzz 60
  stage 'scenes' test_scenes
  stage 'faults' test_faults 50
  stage 'soak' do_soak 40
  stage 'packages twice' test_packages twice
  stage 'setup for Windows' test_setup compressed
  stage 'repetitions' test_repeated
  stages_end
}

# test_scenes plays what the recorded situations are from.
test_scenes() {
  go_test -tags 'real full' -timeout 30m -run '^TestRecordSituations$' ./app/e2e/endurance || die "a scene is not decided as it was recorded" "look for FAIL above"
}

test_repeated() {
  {
    go_test -race -tags 'real full' -count=5 -timeout 60m ./tray/... ./monitor/watch/... &&
      go_test -count=20 -run '^TestKilled' ./app/setup/foreignfile ./app/workspace
  } || die "a repeated test failed" "a test that fails now and then is a fault"
}

# test_faults KILLS kills the program so often, fills its disk, ends its bus, steps
# its clock and takes its file descriptors.
test_faults() {
  LAMPLIGHTER_TEST_KILLS=$1 go_test -tags 'real full' -timeout 30m -run '^TestFault' -v ./app/e2e/endurance || die "a fault was not survived" "look for FAIL above"
}

do_faults() {
  need_go
  need_all
  test_faults 50
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
  test-slow) do_test_slow ;;
  endurance) do_endurance ;;
  test-wine) test_wine "$@" ;;
  test-setup) test_setup "$@" ;;
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
