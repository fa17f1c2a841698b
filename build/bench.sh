# shellcheck shell=bash
# Sourced by build.sh: the benchmarks, their table, and its place in docs/performance.md.

bench_parts=(starts page registrations launch sharing workspaces servers stand-ins)

# do_bench [--json] [--write] [PART…] measures all parts, or those, and prints one table of them as Markdown. With
# --json it prints the same rows as JSON, and nothing else on stdout; with --write it also puts the table into
# docs/performance.md.
do_bench() {
  local arg json='' write='' parts=() pattern='' log=$cache/bench.log doc=$root/docs/performance.md failed=''
  for arg; do
    case $arg in
      --json) json=1 ;;
      --write) write=1 ;;
      -*) die "bench does not know $arg" "run: ./build.sh bench [--json] [--write] [PART…]" ;;
      *)
        [[ " ${bench_parts[*]} " == *" $arg "* ]] ||
          die "bench has no part $arg" "run: ./build.sh bench [--json] [--write] [PART…]; parts: ${bench_parts[*]}"
        parts+=("$arg")
        ;;
    esac
  done
  [[ $(uname -s) == Linux ]] || die "the benchmarks need Linux" "run them there"
  [[ -z $write ]] || bench_has_place "$doc" ||
    die "$doc has no place for the table" "put a line '$bench_begin' and below it a line '$bench_end' into it, then run this again"
  ((${#parts[@]} == 0)) || pattern=/^\($(IFS='|' && echo "${parts[*]}")\)\$
  {
    need_go
    need_all
    need_mcp_proxy
    say "measuring; this takes some minutes (all of it: $log)"
  } >&2
  rm -f "$cache/bench.md" "$cache/bench.json"
  LAMPLIGHTER_TEST_DISK=yes LAMPLIGHTER_TEST_BENCH_LONG=${LAMPLIGHTER_BENCH_LONG-} LAMPLIGHTER_TEST_BENCH_DIR=$cache \
    LAMPLIGHTER_TEST_BENCH_REVISION=$(version_of_tree) LAMPLIGHTER_TEST_BENCH_PARTS=${parts[*]:-all} \
    go_test -tags 'real bench' -run "^TestBench\$$pattern" -v -timeout 90m ./app/e2e/bench >"$log" 2>&1 || failed=1
  # A part that failed does not take the others with it: the table says which it was.
  [[ -z $write || ! -f $cache/bench.md ]] || bench_into "$doc" "$cache/bench.md"
  if [[ -n $failed ]]; then
    [[ ! -f $cache/bench.md ]] || cat "$cache/bench.md" >&2
    grep -E '^ +[a-z_]+_test\.go:[0-9]+: |--- FAIL' "$log" | tail -n 40 >&2 || true
    die "a benchmark failed" "see above (all of it: $log)"
  fi
  if [[ -n $json ]]; then cat "$cache/bench.json"; else cat "$cache/bench.md"; fi
}

bench_begin='<!-- bench: begin, by ./build.sh bench --write -->'
bench_end='<!-- bench: end -->'

# bench_has_place FILE: is there one place for the table?
bench_has_place() {
  [[ $(grep -nxF -e "$bench_begin" -e "$bench_end" "$1" | cut -d: -f2-) == "$bench_begin"$'\n'"$bench_end" ]]
}

# bench_into FILE TABLE replaces what stands between the two lines in FILE.
bench_into() {
  awk -v begin="$bench_begin" -v end="$bench_end" -v table="$2" '
    $0 == end { inside = 0 }
    !inside { print }
    $0 == begin { inside = 1; while ((getline line < table) > 0) print line }
  ' "$1" >"$cache/bench.doc"
  cat "$cache/bench.doc" >"$1"
}
