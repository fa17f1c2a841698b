# shellcheck shell=bash
# Sourced by build.sh: fuzzing.

fuzz_seconds=20  # for a target
fuzz_kept=build/fuzz-corpora.tar.gz  # what earlier runs found worth keeping, for machines that have no cache
fuzz_kept_inputs=150                 # of a target, the shortest first: many small ones cover more than few long ones
fuzz_kept_size=2048                  # bytes of one
fuzz_longest=86400

# fuzzing_only_ended LOG: did the fuzzer report nothing but its own time being up? Go before 1.27 calls that a failure
# when a worker is busy at that moment (go.dev/issue/75804). A finding always writes its input, or says how it died.
fuzzing_only_ended() {
  grep -Eq '^ +context deadline exceeded$' "$1" && ! grep -Eqi 'failing input|panic|hung|fatal error|DATA RACE|_test\.go:' "$1"
}

# fuzz_made DIR PACKAGE makes the test program of a package as the fuzzer needs it, and lists its targets.
fuzz_made() {
  local program=$1/${2//\//-}
  {
    go test -c -fuzz=. -o "$program.test" "./$2" >"$program.log" 2>&1 &&
      (cd "$2" && "$root/build/isolated.sh" "$program.test" -test.list '^Fuzz' >"$program.listed" 2>>"$program.log") &&
      mv "$program.listed" "$program.list"
  } || cat "$program.log"
}

# fuzz_one DIR PACKAGE TARGET SECONDS runs one target, on a machine of its own. What it finds beside failures is kept
# where go test -fuzz keeps it, and begun with the next time.
fuzz_one() {
  local program=$1/${2//\//-} log=$1/${2//\//-}.$3.log
  if (
    cd "$2" && LAMPLIGHTER_TEST_TOOLS=$cache "$root/build/isolated.sh" "$program.test" -test.run '^$' -test.fuzz "^$3\$" \
      -test.fuzztime "$4s" -test.fuzzminimizetime 1s -test.parallel 1 -test.fuzzcachedir "$fuzz_corpora/$2"
  ) >"$log" 2>&1; then
    printf 'fuzz: %-60s ok\n' "$2 $3"
  elif fuzzing_only_ended "$log"; then
    printf 'fuzz: %-60s ok (ended while busy)\n' "$2 $3"
  else
    mv "$log" "$log.failed"
    printf 'fuzz: %-60s FAILED\n%s\n' "$2 $3" "$(<"$log.failed")"
  fi
}

# fuzz_packages prints the packages that have fuzz targets.
fuzz_packages() {
  grep -rl --include='*_test.go' '^func Fuzz' app icons installer monitor tray | sed 's|/[^/]*$||' | sort -u
}

# fuzz_all [SECONDS [PACKAGE…]] runs the fuzz targets of the packages, or of all, two at a time, each for so long.
fuzz_all() {
  local seconds=${1-$fuzz_seconds} dir=$cache/fuzz packages=() targets=() failed=() package target
  (($# == 0)) || shift
  packages=("$@")
  ((${#packages[@]})) || mapfile -t packages < <(fuzz_packages)
  rm -rf "$dir"
  mkdir -p "$dir"
  fuzz_corpora=$(go env GOCACHE)/fuzz/$(go list -m)
  fuzz_begun_with
  export root cache fuzz_corpora
  export -f fuzzing_only_ended fuzz_made fuzz_one
  say "making the test programs of ${#packages[@]} packages"
  printf '%s\n' "${packages[@]}" | xargs -P 2 -I '{}' bash -c 'fuzz_made "$@"' _ "$dir" '{}'
  for package in "${packages[@]}"; do
    [[ -f $dir/${package//\//-}.list ]] || die "the fuzz targets of $package could not be listed" "run: ./build.sh test"
    while read -r target; do targets+=("$package $target $seconds"); done < <(grep '^Fuzz' "$dir/${package//\//-}.list")
  done
  ((${#targets[@]})) || { say "no fuzz targets"; return 0; }
  say "fuzzing ${#targets[@]} targets for $seconds s each, two at a time"
  printf '%s\n' "${targets[@]}" | xargs -P 2 -L 1 bash -c 'fuzz_one "$@"' _ "$dir"
  mapfile -t failed < <(cd "$dir" && find . -name '*.failed' | sed 's|.*\.\(Fuzz[A-Za-z0-9_]*\)\..*|\1|' | sort)
  ((${#failed[@]} == 0)) || die "fuzzing failed: ${failed[*]}" \
    "the input was written below testdata/fuzz of its package: mend, keep it as a seed, run again"
}

# fuzz_unpack puts the kept inputs where go test takes the seeds of a target from, beside those that are there for ever.
# By their names git does not see them. What an earlier run left is taken away first, so that none outlives its target.
fuzz_unpack() {
  fuzz_clear
  tar -xzf "$fuzz_kept" --transform 's|/\(Fuzz[^/]*\)/|/testdata/fuzz/\1/kept-|'
}

# fuzz_clear takes them away again.
fuzz_clear() {
  find app icons installer monitor tray -path '*/testdata/fuzz/Fuzz*/kept-*' -delete
  find app icons installer monitor tray -path '*/testdata*' -type d -empty -delete
}

# fuzz_begun_with puts the kept inputs beside those that the cache has.
fuzz_begun_with() {
  mkdir -p "$fuzz_corpora"
  [[ ! -f $fuzz_kept ]] || tar -xzf "$fuzz_kept" -C "$fuzz_corpora" --skip-old-files
}

# fuzz_keep packs what fuzzing has found by now, the same bytes for the same inputs.
fuzz_keep() {
  fuzz_corpora=$(go env GOCACHE)/fuzz/$(go list -m)
  fuzz_begun_with
  local target
  while read -r target; do
    # A target that is no more takes what it found with it.
    grep -qs "^func ${target##*/}(" "${target%/*}"/*_test.go || continue
    find "$fuzz_corpora/$target" -type f -size "-$((fuzz_kept_size + 1))c" -printf "%s $target/%P\n" | LC_ALL=C sort -n -k1,1 -k2 |
      sed -n "1,${fuzz_kept_inputs}s/^[0-9]* //p"
  done < <(find "$fuzz_corpora" -type d -name 'Fuzz*' -printf '%P\n' | LC_ALL=C sort) >"$cache/fuzz-corpora.list"
  tar -c --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -C "$fuzz_corpora" -T "$cache/fuzz-corpora.list" |
    gzip -n9 >"$cache/fuzz-corpora.tar.gz"
  mv "$cache/fuzz-corpora.tar.gz" "$fuzz_kept"
  say "$(tar -tzf "$fuzz_kept" | wc -l) inputs are in $fuzz_kept"
}

# do_fuzz [SECONDS [PACKAGE…]] is fuzz_all by hand; do_fuzz --keep is fuzz_keep.
do_fuzz() {
  if [[ ${1-} == --keep ]]; then
    (($# == 1)) || die "fuzz --keep takes nothing else" "run: ./build.sh fuzz --keep"
    need_go
    fuzz_keep
    return
  fi
  local seconds=${1-$fuzz_seconds} package packages=()
  { [[ $seconds =~ ^[1-9][0-9]{0,4}$ ]] && ((seconds <= fuzz_longest)); } ||
    die "fuzz does not know how long $seconds is" "run: ./build.sh fuzz [SECONDS [PACKAGE…]], with at most $fuzz_longest seconds for a target"
  (($# == 0)) || shift
  for package; do
    package=${package#./}
    package=${package%/}
    { compgen -G "$package/*_test.go" >/dev/null && grep -q '^func Fuzz' "$package"/*_test.go; } ||
      die "there is no fuzz target in $package" "name a folder, such as monitor/serena"
    packages+=("$package")
  done
  [[ $(uname -s) == Linux ]] || die "fuzzing needs Linux" "elsewhere, run: go test -fuzz TARGET ./PACKAGE"
  need_go
  (
    locked
    need_debian "${debian_isolated[@]}"
  )
  fuzz_all "$seconds" ${packages[@]+"${packages[@]}"}
}
