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
  test-full [--skip-test]  test, then Windows under Wine, fuzzing and repetitions
  test-wine [PACKAGE…]   the tests as Windows programs, under Wine
  bench [PART…]          what it costs, compared with what people have today; parts: starts, page,
                         registrations, launch, sharing, workspaces, servers, stand-ins
  package                not yet

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
# shellcheck source=build/lint.sh
. build/lint.sh
# shellcheck source=build/servers.sh
. build/servers.sh
# shellcheck source=build/demo.sh
. build/demo.sh
# shellcheck source=build/wine.sh
. build/wine.sh

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
  { CGO_ENABLED=$cgo go build -trimpath -ldflags "-s -w -X main.version=$version" -o "bin/lamplighter$exe" ./app &&
    CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$version" -o "bin/lamplighter-connect$exe" ./app/connect; } ||
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
    need_go_tools staticcheck govulncheck
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

# fuzzing_only_ended LOG: did the fuzzer report nothing but its own time being up? Go before 1.27 calls that a failure
# when a worker is busy at that moment (go.dev/issue/75804). A finding always writes its input, or says how it died.
fuzzing_only_ended() {
  grep -Eq '^ +context deadline exceeded$' "$1" && ! grep -Eqi 'failing input|panic|hung|fatal error|DATA RACE|_test\.go:' "$1"
}

# fuzz_all runs each fuzz target for 10 s, less when there are many.
fuzz_all() {
  local list=$cache/fuzz-targets.log log=$cache/fuzz.log targets=() pending=() first second failed=() each
  go_test -list '^Fuzz' ./... >"$list" || die "the fuzz targets could not be listed" "run: ./build.sh test"
  while read -r first second _; do
    case $first in
      Fuzz*) pending+=("$first") ;;
      ok)
        local name
        for name in ${pending[@]+"${pending[@]}"}; do targets+=("$second $name"); done
        pending=()
        ;;
    esac
  done <"$list"
  ((${#targets[@]})) || { say "no fuzz targets"; return 0; }
  each=$((600 / ${#targets[@]}))
  ((each <= 10)) || each=10
  say "fuzzing ${#targets[@]} targets for $each s each"
  local target
  for target in "${targets[@]}"; do
    read -r first second <<<"$target"
    if go_test -run '^$' -fuzz "^$second\$" -fuzztime "${each}s" -timeout 5m "$first" >"$log" 2>&1; then
      printf 'fuzz: %-60s ok\n' "$target"
    elif fuzzing_only_ended "$log"; then
      printf 'fuzz: %-60s ok (ended while busy)\n' "$target"
    else
      printf 'fuzz: %-60s FAILED\n' "$target"
      cat "$log"
      failed+=("$second")
    fi
  done
  ((${#failed[@]} == 0)) || die "fuzzing failed: ${failed[*]}" \
    "the input was written below testdata/fuzz of its package: mend, keep it as a seed, run again"
}

# test_socket_activation has a real systemd start lamplighter for its clients.
test_socket_activation() {
  need_debian "${debian_systemd[@]}"
  do_build
  say "running below a real systemd --user"
  local prefix
  prefix=$("$cache/venv/bin/python" -c 'import sys; print(sys.base_prefix)')
  "$root/build/systemd-user.sh" --reads "$prefix" --reads "$cache" --reads "$root/bin" "$root/build/socket-activation.sh" "$root/bin" "$cache" ||
    die "socket activation failed" "see above"
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
  test_socket_activation
  say "repeating the tests of tray and monitor/watch"
  go_test -race -tags real -count=2 -timeout 30m ./tray/... ./monitor/watch/... ||
    die "a repeated test failed" "look for FAIL above; a test that fails now and then is a fault"
  printf '\nfull test: ok, took %d s\n' "$SECONDS"
}

# do_bench [PART…] prints the table that the benchmarks make, a line each.
do_bench() {
  local part parts log=$cache/bench.log
  for part; do
    case $part in
      starts | page | registrations | launch | sharing | workspaces | servers | stand-ins) ;;
      *) die "bench has no part $part" "run: ./build.sh bench [starts|page|registrations|launch|sharing|workspaces|servers|stand-ins]…" ;;
    esac
  done
  parts=$(IFS='|' && echo "$*")
  need_go
  need_all
  need_mcp_proxy
  say "measuring; this takes some minutes (all of it: $log)"
  LAMPLIGHTER_TEST_BENCH_LONG=${LAMPLIGHTER_BENCH_LONG-} \
    go_test -tags 'real bench' -run "^TestBench\$/${parts:+^($parts)\$}" -v -timeout 30m ./app >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    die "a benchmark failed" "see above (all of it: $log)"
  }
  sed -n 's/^.*bench|/bench|/p' "$log"
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
  bench) do_bench "$@" ;;
  package) die "packages cannot be made yet" "run: ./build.sh build, and use bin/lamplighter" ;;
  help | -h | --help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
