# shellcheck shell=bash
# Sourced by build.sh: the soak.

# do_soak [MINUTES] lets servers come, go, hang and crash around one lamplighter for that long, 5 minutes unless
# said otherwise, and prints what it has found, a line each. LAMPLIGHTER_TEST_SEED repeats one.
do_soak() {
  local minutes=${1-5} log=$cache/soak.log
  if (($# > 1)) || ! [[ $minutes =~ ^[1-9][0-9]{0,2}$ ]]; then
    die "soak takes a number of minutes below 1000, not $*" "run: ./build.sh soak [MINUTES]"
  fi
  [[ $(uname -s) == Linux ]] || die "the soak needs Linux" "elsewhere, run: ./build.sh test-here"
  need_go
  need_all
  say "soaking for $minutes min (all of it: $log)"
  # What the load leaves needs some minutes to settle, on a busy machine too.
  LAMPLIGHTER_TEST_SOAK=${minutes}m \
    go_test -tags 'real soak' -run '^TestSoak$' -v -timeout "$((minutes + 15))m" ./app/e2e/endurance >"$log" 2>&1 || {
    sed -n 's/^.*soak|/soak|/p' "$log"
    grep -E '^ {4}(soak_[a-z]+_test\.go:| {4}[^-])' "$log" | head -n 40 >&2 || true
    die "the soak found a fault" "see above (all of it: $log); LAMPLIGHTER_TEST_SEED=SEED repeats it"
  }
  sed -n 's/^.*soak|/soak|/p' "$log"
}
