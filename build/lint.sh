# shellcheck shell=bash
# Sourced by build.sh: every check that reads the source without running it.

all_tests='real contract record bench full soak' # the tags of all tests for Linux

# check NAME COMMAND… runs COMMAND, which must succeed and, for a NAME that
# ends in "(silent)", must print nothing. Failures are counted in lint_failed.
check() {
  local name=$1 output status=0 start=$SECONDS
  shift
  output=$("$@" 2>&1) || status=$?
  [[ $name == *'(silent)' && -n $output ]] && status=1
  name=${name%' (silent)'}
  if ((status == 0)); then
    printf 'lint: %-34s ok %3ds\n' "$name" $((SECONDS - start))
  else
    printf 'lint: %-34s FAILED\n%s\n' "$name" "$output"
    lint_failed+=("$name")
  fi
}

go_files() {
  find . -path ./.cache -prune -o -path ./.git -prune -o -name '*.go' -print
}

gofmt_all() { go_files | xargs -r gofmt -l; }

# The scripts that are not executable are read where others source them.
shellcheck_all() { find build.sh build .ci installer/package -type f -perm -u+x -exec shellcheck --external-sources --check-sourced {} +; }

# darwin_stub makes .cache/darwin/go.mod, with which Go builds for macOS without a
# Mac. The tray library's half for it is C: the copy of the library there has a
# stand-in for that, with which nothing is shown.
darwin_stub() {
  local dir copy=$cache/darwin
  dir=$(go list -m -f '{{.Dir}}' fyne.io/systray) || return 1
  rm -rf "$copy"
  mkdir -p "$copy"
  cp -R "$dir" "$copy/systray"
  chmod -R u+w "$copy/systray"
  cp build/systray_stub_darwin.go.txt "$copy/systray/systray_stub_darwin.go"
  cp go.mod go.sum "$copy"
  go mod edit -replace "fyne.io/systray=$copy/systray" "$copy/go.mod"
}

# vet_darwin type-checks for macOS, on the processor that test_macos builds for.
vet_darwin() {
  darwin_stub && GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go vet -modfile "$cache/darwin/go.mod" "$@" ./...
}

# page_types checks the types of the page's modules. Those of vendored code are
# declared, as far as they are used.
page_types() {
  local dir=$cache/page-types
  rm -rf "$dir" && cp -R app/dashboard/page "$dir" && cp app/dashboard/pagetest/*.d.ts "$dir" && rm "$dir/preact.js" "$dir/uPlot.esm.js" || return 1
  "$cache/node/bin/node" "$cache/typescript/lib/tsc.js" --noEmit --allowJs --checkJs --target es2024 --lib dom,dom.iterable,esnext --module esnext --moduleResolution bundler "$dir"/*.js
}

# actionlint_all checks the workflows, and what shell they hold with shellcheck.
actionlint_all() { "$cache/bin/actionlint" .github/workflows/*.yml; }

# vulnerabilities runs govulncheck, whose status is 3 when it found some. Its
# data comes from the network, which not every machine has: that is no failure.
vulnerabilities() {
  local output status=0
  need_go_tools govulncheck
  output=$(timeout 300 "$cache/bin/govulncheck" ./... 2>&1) || status=$?
  case $status in
    0) ;;
    3) die "$output" "update what is named above" ;;
    *) say "govulncheck could not run: $(head -n 1 <<<"$output")" ;;
  esac
}

staticcheck_windows() {
  need_go_tools staticcheck
  GOOS=windows CGO_ENABLED=0 "$cache/bin/staticcheck" -tags 'real packaged' ./... || die "staticcheck for Windows found something" "see above"
}

# lint runs all checks, and then says which failed.
lint() {
  lint_failed=()
  check 'gofmt (silent)' gofmt_all
  check 'go mod tidy' go mod tidy -diff
  check 'go mod verify' go mod verify
  check shellcheck shellcheck_all
  check 'actionlint (silent)' actionlint_all
  check 'types of the page (silent)' page_types
  check 'links of documents (silent)' links_all
  check 'go vet' go vet -tags "$all_tests" ./...
  check 'go vet for windows' env GOOS=windows CGO_ENABLED=0 go vet -tags 'real packaged' ./...
  check 'go vet for darwin' vet_darwin -tags real
  check staticcheck "$cache/bin/staticcheck" -tags "$all_tests" ./...
  ((${#lint_failed[@]} == 0))
}
