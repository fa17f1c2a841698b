# shellcheck shell=bash
# Sourced by build.sh: what the workflows of releases run.

# do_test_here runs the tests that need nothing but Go, on any system.
do_test_here() {
  need_go
  # Those of the finished program use its usual ports, which here they share.
  # shellcheck disable=SC2046 # no package has a space in its name
  { go test -count=1 -timeout 20m $(go list ./... | grep -v /app/e2e) && go test -count=1 -timeout 20m -p 1 ./app/e2e/...; } || die "tests failed" "look for FAIL above"
}

# do_draft_release TAG makes a draft of a release of what lies in dist. A person
# looks at it and publishes it.
do_draft_release() {
  local tag=${1-} sum=(sha256sum)
  [[ -n $tag ]] || die "draft-release takes a tag" "run: ./build.sh draft-release v1.2.3"
  command -v gh >/dev/null || die "gh was not found" "install https://cli.github.com/"
  [[ $(git describe --tags --exact-match 2>/dev/null) == "$tag" ]] || die "this is not $tag" "run: git checkout $tag"
  command -v sha256sum >/dev/null || sum=(shasum -a 256)
  (cd dist && "${sum[@]}" --check --quiet SHA256SUMS) || die "dist is not what SHA256SUMS says" "run: ./build.sh package sums"
  gh release create "$tag" --draft --verify-tag --title "Lamplighter ${tag#v}" --notes "How to install it: README.md, Install." dist/*
}
